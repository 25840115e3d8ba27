#map = affine_map<(d0) -> (d0)>
module {
  func.func @gelu(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = arith.constant 1.12837911 : f32
    %cst_0 = arith.constant -0.37612626 : f32
    %cst_1 = arith.constant 0.112835854 : f32
    %cst_2 = arith.constant -0.0268538129 : f32
    %cst_3 = arith.constant 0.00518832775 : f32
    %cst_4 = arith.constant -8.0101937E-4 : f32
    %cst_5 = arith.constant 7.85386146E-5 : f32
    %cst_6 = arith.constant 0.000000e+00 : f32
    %cst_7 = arith.constant -88.7228394 : f32
    %cst_8 = arith.constant 0.564189494 : f32
    %cst_9 = arith.constant -0.282076746 : f32
    %cst_10 = arith.constant 0.42184633 : f32
    %cst_11 = arith.constant -1.01526523 : f32
    %cst_12 = arith.constant 2.92101908 : f32
    %cst_13 = arith.constant -7.49551868 : f32
    %cst_14 = arith.constant 1.297720e+01 : f32
    %cst_15 = arith.constant -10.477664 : f32
    %cst_16 = arith.constant 0.563825965 : f32
    %cst_17 = arith.constant -0.274112701 : f32
    %cst_18 = arith.constant 3.404880e-01 : f32
    %cst_19 = arith.constant -0.494451523 : f32
    %cst_20 = arith.constant 0.621000468 : f32
    %cst_21 = arith.constant -0.582473278 : f32
    %cst_22 = arith.constant 0.368742466 : f32
    %cst_23 = arith.constant -0.138703942 : f32
    %cst_24 = arith.constant 2.326820e-02 : f32
    %cst_25 = arith.constant 2.000000e+00 : f32
    %cst_26 = arith.constant 1.000000e+00 : f32
    %cst_27 = arith.constant 0.707106769 : f32
    %cst_28 = arith.constant 5.000000e-01 : f32
    %0 = tensor.empty() : tensor<8xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %cst_28 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.negf %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%2 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %cst_27 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.negf %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = math.absf %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.divf %cst_26, %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%5 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = math.exp %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%6 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.divf %cst_26, %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%8, %9 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %11 = tensor.empty() : tensor<8xi1>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%6 : tensor<8xf32>) outs(%11 : tensor<8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %67 = arith.cmpf olt, %in, %cst_25 : f32
      linalg.yield %67 : i1
    } -> tensor<8xi1>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%7 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %cst_24 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%13 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_23 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%14, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%15 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_22 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%16, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%17 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_21 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%18, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%19 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_20 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%20, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%21 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_19 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%22, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%23 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_18 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%24, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%25 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_17 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%26, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%27 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_16 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%7 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %cst_15 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%29 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_14 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%30, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%31 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_13 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%32, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%33 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_12 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%34, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%35 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_11 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%36, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%37 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_10 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%38, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%39 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_9 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%40, %7 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%41 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_8 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%12, %28, %42 : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: i1, %in_29: f32, %in_30: f32, %out: f32):
      %67 = arith.select %in, %in_29, %in_30 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%10, %43 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%5 : tensor<8xf32>) outs(%11 : tensor<8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %67 = arith.cmpf olt, %in, %cst_7 : f32
      linalg.yield %67 : i1
    } -> tensor<8xi1>
    %46 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%45, %44 : tensor<8xi1>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: i1, %in_29: f32, %out: f32):
      %67 = arith.select %in, %cst_6, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%3 : tensor<8xf32>) outs(%11 : tensor<8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %67 = arith.cmpf olt, %in, %cst_6 : f32
      linalg.yield %67 : i1
    } -> tensor<8xi1>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%46 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.subf %cst_25, %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%47, %48, %46 : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: i1, %in_29: f32, %in_30: f32, %out: f32):
      %67 = arith.select %in, %in_29, %in_30 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%4 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.mulf %in, %cst_5 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%50 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_4 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%51, %4 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %53 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%52 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_3 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%53, %4 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%54 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_2 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%55, %4 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%56 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_1 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%57, %4 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%58 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst_0 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%59, %4 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%60 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.addf %in, %cst : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%3, %61 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%62 : tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %67 = arith.subf %cst_26, %in : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %64 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%6 : tensor<8xf32>) outs(%11 : tensor<8xi1>) {
    ^bb0(%in: f32, %out: i1):
      %67 = arith.cmpf olt, %in, %cst_26 : f32
      linalg.yield %67 : i1
    } -> tensor<8xi1>
    %65 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%64, %63, %49 : tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: i1, %in_29: f32, %in_30: f32, %out: f32):
      %67 = arith.select %in, %in_29, %in_30 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]} ins(%1, %65 : tensor<8xf32>, tensor<8xf32>) outs(%0 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_29: f32, %out: f32):
      %67 = arith.mulf %in, %in_29 : f32
      linalg.yield %67 : f32
    } -> tensor<8xf32>
    return %66 : tensor<8xf32>
  }
}

