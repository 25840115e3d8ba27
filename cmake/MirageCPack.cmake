# Read by cpack once a generator: an archive holds bin/, lib/ ... at its top, to be unpacked anywhere; a Debian package is under /usr.
if(CPACK_GENERATOR MATCHES "TGZ")
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
