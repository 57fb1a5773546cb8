// Written by scripts/fix-dictionary from a FIX 4.4 dictionary; not to be edited by hand. See QUICKFIX_LICENSE beside this file.

extension FIXDictionary {
    /// `Component: …`, `=MsgType: …`, `header: …`, `trailer: …`. `!` = required, `( … )` = the entries that the tag before counts.
    static let fix44Messages = """
        CommissionData: 12 13 479 497
        DiscretionInstructions: 388 389 841 842 843 844 846
        FinancingDetails: 913 914 915 918 788 916 917 919 898
        Instrument: 55 65 48 22 SecAltIDGrp 460 461 167 762 200 541 201 224 225 239 226 227 228 255 543 470 471 472 240 202 947 206 231 223
        207 106 348 349 107 350 351 691 667 875 876 EvntGrp 873 874
        InstrumentExtension: 668 869 AttrbGrp
        InstrumentLeg: 600 601 602 603 LegSecAltIDGrp 607 608 609 764 610 611 248 249 250 251 252 253 257 599 596 597 598 254 612 942 613
        614 615 616 617 618 619 620 621 622 623 624 556 740 739 955 956
        LegBenchmarkCurveData: 676 677 678 679 680
        LegStipulations: 683 ( 688 689 )
        NestedParties: 539 ( 524 525 538 NstdPtysSubGrp )
        OrderQtyData: 38 152 516 468 469
        Parties: 453 ( 448 447 452 PtysSubGrp )
        PegInstructions: 211 835 836 837 838 840
        PositionAmountData: 753 ( 707 708 )
        PositionQty: 702 ( 703 704 705 706 NestedParties )
        SettlInstructionsData: 172 169 170 171 DlvyInstGrp
        SettlParties: 781 ( 782 783 784 SettlPtysSubGrp )
        SpreadOrBenchmarkCurveData: 218 220 221 222 662 663 699 761
        Stipulations: 232 ( 233 234 )
        TrdRegTimestamps: 768 ( 769 770 771 )
        UnderlyingInstrument: 311 312 309 305 UndSecAltIDGrp 462 463 310 763 313 542 315 241 242 243 244 245 246 256 595 592 593 594 247 316
        941 317 436 435 308 306 362 363 307 364 365 877 878 318 879 810 882 883 884 885 886 UnderlyingStipulations
        YieldData: 235 236 701 696 697 698
        UnderlyingStipulations: 887 ( 888 889 )
        NestedParties2: 756 ( 757 758 759 NstdPtys2SubGrp )
        NestedParties3: 948 ( 949 950 951 NstdPtys3SubGrp )
        AffectedOrdGrp: 534 ( 41 535 536 )
        AllocAckGrp: 78 ( 79 661 366 467 776 161 360 361 )
        AllocGrp: 78 ( 79 661 573 366 80 467 81 NestedParties 208 209 161 360 361 CommissionData 153 154 119 737 120 736 155 156 742 741
        MiscFeesGrp ClrInstGrp 780 SettlInstructionsData )
        BidCompReqGrp: 420 ( 66 54 336 625 430 63 64 1 660 )
        BidCompRspGrp: 420! ( CommissionData! 66 421 54 44 423 406 430 63 64 336 625 58 354 355 )
        BidDescReqGrp: 398 ( 399 400 401 404 441 402 403 405 406 407 408 )
        ClrInstGrp: 576 ( 577 )
        CollInqQualGrp: 938 ( 896 )
        CompIDReqGrp: 936 ( 930 931 283 284 )
        CompIDStatGrp: 936! ( 930 931 283 284 928 929 )
        ContAmtGrp: 518 ( 519 520 521 )
        ContraGrp: 382 ( 375 337 437 438 655 )
        CpctyConfGrp: 862! ( 528! 529 863! )
        ExecAllocGrp: 124 ( 32 17 527 31 669 29 )
        ExecCollGrp: 124 ( 17 )
        ExecsGrp: 124 ( 17 )
        InstrmtGrp: 146 ( Instrument )
        InstrmtLegExecGrp: 555 ( InstrumentLeg 687 690 LegStipulations 564 565 NestedParties 654 566 587 588 637 )
        InstrmtLegGrp: 555 ( InstrumentLeg )
        InstrmtLegIOIGrp: 555 ( InstrumentLeg 682 LegStipulations )
        InstrmtLegSecListGrp: 555 ( InstrumentLeg 690 587 LegStipulations LegBenchmarkCurveData )
        InstrmtMDReqGrp: 146! ( Instrument! UndInstrmtGrp InstrmtLegGrp )
        InstrmtStrkPxGrp: 428! ( Instrument! )
        IOIQualGrp: 199 ( 104 )
        LegOrdGrp: 555! ( InstrumentLeg 687 690 LegStipulations LegPreAllocGrp 564 565 NestedParties 654 566 587 588 )
        LegPreAllocGrp: 670 ( 671 672 NestedParties2 673 674 675 )
        LegQuotGrp: 555 ( InstrumentLeg 687 690 587 588 LegStipulations NestedParties 686 681 684 LegBenchmarkCurveData )
        LegQuotStatGrp: 555 ( InstrumentLeg 687 690 587 588 LegStipulations NestedParties )
        LinesOfTextGrp: 33! ( 58! 354 355 )
        ListOrdGrp: 73! ( 11! 526 67! 583 160 Parties 229 75 1 660 581 589 590 70 591 PreAllocGrp 63 64 544 635 21 18 110 111 100 TrdgSesGrp
        81 Instrument! UndInstrmtGrp 140 54! 401 114 60 Stipulations 854 OrderQtyData! 40 423 44 99 SpreadOrBenchmarkCurveData YieldData 15
        376 377 23 117 59 168 432 126 427 CommissionData 528 529 582 121 120 775 58 354 355 193 192 640 77 203 210 PegInstructions
        DiscretionInstructions 847 848 849 494 )
        MDFullGrp: 268! ( 269! 270 15 271 272 273 274 275 336 625 276 277 282 283 284 286 59 432 126 110 18 287 37 299 288 289 346 290 546
        811 58 354 355 )
        MDIncGrp: 268! ( 279! 285 269 278 280 Instrument UndInstrmtGrp InstrmtLegGrp 291 292 270 15 271 272 273 274 275 336 625 276 277 282
        283 284 286 59 432 126 110 18 287 37 299 288 289 346 290 546 811 451 58 354 355 )
        MDReqGrp: 267! ( 269! )
        MDRjctGrp: 816 ( 817 )
        MiscFeesGrp: 136 ( 137 138 139 891 )
        OrdAllocGrp: 73 ( 11 37 198 526 66 NestedParties2 38 799 800 )
        OrdListStatGrp: 73! ( 11! 526 14! 39! 636 151! 84! 6! 103 58 354 355 )
        PosUndInstrmtGrp: 711 ( UnderlyingInstrument 732! 733! )
        PreAllocGrp: 78 ( 79 661 736 467 NestedParties 80 )
        PreAllocMlegGrp: 78 ( 79 661 736 467 NestedParties3 80 )
        QuotCxlEntriesGrp: 295 ( Instrument FinancingDetails UndInstrmtGrp InstrmtLegGrp )
        QuotEntryAckGrp: 295 ( 299 Instrument InstrmtLegGrp 132 133 134 135 62 188 190 189 191 631 632 633 634 60 336 625 64 40 193 192 642
        643 15 368 )
        QuotEntryGrp: 295! ( 299! Instrument InstrmtLegGrp 132 133 134 135 62 188 190 189 191 631 632 633 634 60 336 625 64 40 193 192 642
        643 15 )
        QuotQualGrp: 735 ( 695 )
        QuotReqGrp: 146! ( Instrument! FinancingDetails UndInstrmtGrp 140 303 537 336 625 229 54 854 OrderQtyData 63 64 193 192 15
        Stipulations 1 660 581 QuotReqLegsGrp QuotQualGrp 692 40 62 126 60 SpreadOrBenchmarkCurveData 423 44 640 YieldData Parties )
        QuotReqLegsGrp: 555 ( InstrumentLeg 687 690 587 588 LegStipulations NestedParties LegBenchmarkCurveData )
        QuotReqRjctGrp: 146! ( Instrument! FinancingDetails UndInstrmtGrp 140 303 537 336 625 229 54 854 OrderQtyData 63 64 193 192 15
        Stipulations 1 660 581 QuotReqLegsGrp QuotQualGrp 692 40 126 60 SpreadOrBenchmarkCurveData 423 44 640 YieldData Parties )
        QuotSetAckGrp: 296 ( 302 UnderlyingInstrument 304 893 QuotEntryAckGrp )
        QuotSetGrp: 296! ( 302! UnderlyingInstrument 367 304! 893 QuotEntryGrp! )
        RelSymDerivSecGrp: 146 ( Instrument 15 827 InstrumentExtension InstrmtLegGrp 336 625 58 354 355 )
        RFQReqGrp: 146! ( Instrument! UndInstrmtGrp InstrmtLegGrp 140 303 537 336 625 )
        RgstDistInstGrp: 510 ( 477 512 478 498 499 500 501 502 )
        RgstDtlsGrp: 473 ( 509 511 474 482 NestedParties 522 486 475 )
        RoutingGrp: 215 ( 216 217 )
        SecListGrp: 146 ( Instrument InstrumentExtension FinancingDetails UndInstrmtGrp 15 Stipulations InstrmtLegSecListGrp
        SpreadOrBenchmarkCurveData YieldData 561 562 336 625 827 58 354 355 )
        SecTypesGrp: 558 ( 167 762 460 461 )
        SettlInstGrp: 778 ( 162 163 214 Parties 54 460 167 461 168 126 779 SettlInstructionsData 492 476 488 489 503 490 491 504 505 )
        SideCrossOrdCxlGrp: 552! ( 54! 41! 11! 526 583 586 Parties 229 75 OrderQtyData! 376 58 354 355 )
        SideCrossOrdModGrp: 552! ( 54! 11! 526 583 Parties 229 75 1 660 581 589 590 591 70 PreAllocGrp 854 OrderQtyData! CommissionData 528
        529 582 121 120 775 58 354 355 77 203 544 635 377 659 )
        TrdAllocGrp: 78 ( 79 661 736 467 NestedParties2 80 )
        TrdCapRptSideGrp: 552! ( 54! 37! 198 11 526 66 Parties 1 660 581 81 575 ClrInstGrp 578 579 821 15 376 377 528 529 582 40 18 483 336
        625 943 CommissionData 381 157 230 158 159 738 920 921 922 238 237 118 119 120 155 156 77 58 354 355 752 ContAmtGrp Stipulations
        MiscFeesGrp 825 826 591 70 TrdAllocGrp )
        TrdCollGrp: 897 ( 571 818 )
        TrdInstrmtLegGrp: 555 ( InstrumentLeg 687 690 LegStipulations 564 565 NestedParties 654 566 587 588 637 )
        TrdgSesGrp: 386 ( 336 625 )
        UndInstrmtCollGrp: 711 ( UnderlyingInstrument 944 )
        UndInstrmtGrp: 711 ( UnderlyingInstrument )
        UndInstrmtStrkPxGrp: 711 ( UnderlyingInstrument 140 11 526 54 44! 15 58 354 355 )
        TrdCapDtGrp: 580 ( 75 60 )
        EvntGrp: 864 ( 865 866 867 868 )
        SecAltIDGrp: 454 ( 455 456 )
        LegSecAltIDGrp: 604 ( 605 606 )
        UndSecAltIDGrp: 457 ( 458 459 )
        AttrbGrp: 870 ( 871 872 )
        DlvyInstGrp: 85 ( 165 787 SettlParties )
        SettlPtysSubGrp: 801 ( 785 786 )
        PtysSubGrp: 802 ( 523 803 )
        NstdPtysSubGrp: 804 ( 545 805 )
        Hop: 627 ( 628 629 630 )
        NstdPtys2SubGrp: 806 ( 760 807 )
        NstdPtys3SubGrp: 952 ( 953 954 )
        =0: 112
        =1: 112!
        =2: 7! 16!
        =3: 45! 371 372 373 58 354 355
        =4: 123 36!
        =5: 58 354 355
        =6: 23! 28! 26 Instrument! FinancingDetails UndInstrmtGrp 54! 854 OrderQtyData 27! 15 Stipulations InstrmtLegIOIGrp 423 44 62 25 130
        IOIQualGrp 58 354 355 60 149 RoutingGrp SpreadOrBenchmarkCurveData YieldData
        =7: 2! 5! 3 Instrument! InstrmtLegGrp UndInstrmtGrp 4! 53! 854 44 15 75 60 58 354 355 149 30 336 625
        =8: 37! 198 526 527 11 41 583 693 790 584 911 912 Parties 229 ContraGrp 66 548 551 549 17! 19 150! 39! 636 103 378 1 660 581 589 590
        591 63 64 544 635 Instrument! FinancingDetails UndInstrmtGrp 54! Stipulations 854 OrderQtyData 40 423 44 99 PegInstructions
        DiscretionInstructions 839 845 847 848 849 850 15 376 377 59 168 432 126 18 528 529 582 32 652 31 651 669 194 195 30 336 625 943 29
        151! 14! 6! 424 425 426 427 75 60 113 CommissionData SpreadOrBenchmarkCurveData YieldData 381 157 230 158 159 738 920 921 922 258
        259 260 238 237 118 119 120 155 156 21 110 111 77 210 775 58 354 355 193 192 641 442 480 481 513 494 483 515 484 485 638 639 851
        ContAmtGrp InstrmtLegExecGrp 797 MiscFeesGrp
        =9: 37! 198 526 11! 583 41! 39! 636 586 66 1 660 581 229 75 60 434! 102 58 354 355
        =A: 98! 108! 95 96 141 789 383 384 ( 372 385 ) 464 553 554
        =B: 42 61 148! 358 359 RoutingGrp InstrmtGrp InstrmtLegGrp UndInstrmtGrp LinesOfTextGrp! 149 95 96
        =C: 164! 94! 42 147! 356 357 RoutingGrp InstrmtGrp UndInstrmtGrp InstrmtLegGrp 37 11 LinesOfTextGrp! 95 96
        =D: 11! 526 583 Parties 229 75 1 660 581 589 590 591 70 PreAllocGrp 63 64 544 635 21 18 110 111 100 TrdgSesGrp 81 Instrument!
        FinancingDetails UndInstrmtGrp 140 54! 114 60! Stipulations 854 OrderQtyData! 40! 423 44 99 SpreadOrBenchmarkCurveData YieldData 15
        376 377 23 117 59 168 432 126 427 CommissionData 528 529 582 121 120 775 58 354 355 193 192 640 77 203 210 PegInstructions
        DiscretionInstructions 847 848 849 480 481 513 494
        =E: 66! 390 391 414 394! 415 480 481 513 433 69 352 353 765 766 767 68! 893 ListOrdGrp!
        =F: 41! 37 11! 526 583 66 586 1 660 581 Parties Instrument! FinancingDetails UndInstrmtGrp 54! 60! OrderQtyData! 376 58 354 355
        =G: 37 Parties 229 75 41! 11! 526 583 66 586 1 660 581 589 590 591 70 PreAllocGrp 63 64 544 635 21 18 110 111 100 TrdgSesGrp
        Instrument! FinancingDetails UndInstrmtGrp 54! 60! 854 OrderQtyData! 40! 423 44 99 SpreadOrBenchmarkCurveData YieldData
        PegInstructions DiscretionInstructions 847 848 849 376 377 15 59 168 432 126 427 CommissionData 528 529 582 121 120 775 58 354 355
        193 192 640 77 203 210 114 480 481 513 494
        =H: 37 11! 526 583 Parties 790 1 660 Instrument! FinancingDetails UndInstrmtGrp 54!
        =J: 70! 71! 626! 793 72 796 808 196 197 466 857! OrdAllocGrp ExecAllocGrp 570 700 574 54! Instrument! InstrumentExtension
        FinancingDetails UndInstrmtGrp InstrmtLegGrp 53! 854 30 229 336 625 423 6! 860 SpreadOrBenchmarkCurveData 15 74 Parties 75! 60 63 64
        775 381 238 237 118 77 754 58 354 355 157 158 159 540 738 920 921 922 650 Stipulations YieldData 892 893 AllocGrp
        =K: 66! 60! 229 75 58 354 355
        =L: 66! 391 390 60! 58 354 355
        =M: 66! 58 354 355
        =N: 66! 429! 82! 431! 83! 444 445 446 60 68! 893 OrdListStatGrp!
        =P: 70! Parties 793 75 60! 87! 88 626 808 573 460 167 58 354 355 AllocAckGrp
        =Q: 37! 198 17! 127! Instrument! UndInstrmtGrp InstrmtLegGrp 54! OrderQtyData! 32 31 58 354 355
        =R: 131! 644 11 528 QuotReqGrp! 58 354 355
        =S: 131 117! 693 537 QuotQualGrp 301 Parties 336 625 Instrument! FinancingDetails UndInstrmtGrp 54 OrderQtyData 63 64 193 192 15
        Stipulations 1 660 581 LegQuotGrp 132 133 645 646 647 134 648 135 62 188 190 189 191 631 632 633 634 60 40 642 643 656 657 156 13 12
        582 100 528 423 SpreadOrBenchmarkCurveData YieldData 58 354 355
        =T: 777! 791 160! 792 58 354 355 11 60! SettlInstGrp
        =V: 262! 263! 264! 265 266 286 546 547 MDReqGrp! InstrmtMDReqGrp! TrdgSesGrp 815 812
        =W: 262 Instrument! UndInstrmtGrp InstrmtLegGrp 291 292 451 MDFullGrp! 813 814
        =X: 262 MDIncGrp! 813 814
        =Y: 262! 281 MDRjctGrp 58 354 355
        =Z: 131 117! 298! 301 Parties 1 660 581 336 625 QuotCxlEntriesGrp
        =a: 649 117 Instrument! FinancingDetails UndInstrmtGrp InstrmtLegGrp Parties 1 660 581 336 625 263
        =b: 131 117 297! 300 301 537 Parties 1 660 581 58 354 355 QuotSetAckGrp
        =c: 320! 321! Instrument InstrumentExtension UndInstrmtGrp 15 58 354 355 336 625 InstrmtLegGrp 827 263
        =d: 320! 322! 323! Instrument InstrumentExtension UndInstrmtGrp 15 336 625 58 354 355 InstrmtLegGrp 827 561 562
        =e: 324! Instrument! InstrumentExtension UndInstrmtGrp InstrmtLegGrp 15 263! 336 625
        =f: 324 Instrument! InstrumentExtension UndInstrmtGrp InstrmtLegGrp 15 336 625 325 326 291 292 327 328 329 330 331 332 333 31 60 334
        58 354 355
        =g: 335! 336 625 338 339 263!
        =h: 335 336! 625 338 339 325 340! 567 341 342 343 344 345 387 58 354 355
        =i: 131 117! 537 301 Parties 1 660 581 293 294 QuotSetGrp!
        =j: 45 372! 379 380! 58 354 355
        =k: 390 391! 374! 392 393! 394! 395 15 396 397 BidDescReqGrp BidCompReqGrp 409 410 411 412 413 414 415 416 121 417 75 418! 419! 443
        58 354 355
        =l: 390 391 BidCompRspGrp!
        =m: 66! 422! 893 InstrmtStrkPxGrp! UndInstrmtStrkPxGrp
        =n:
        =o: 513! 514! 508! 11 Parties 1 660 493 495 517 RgstDtlsGrp RgstDistInstGrp
        =p: 513! 514! 508! 11 Parties 1 660 506! 507 496
        =q: 11! 526 530! 336 625 Instrument UnderlyingInstrument 54 60! 58 354 355
        =r: 11 526 37! 198 530! 531! 532 533 AffectedOrdGrp 336 625 Instrument UnderlyingInstrument 54 60 58 354 355
        =s: 548! 549! 550! SideCrossOrdModGrp! Instrument! UndInstrmtGrp InstrmtLegGrp 63 64 21 18 110 111 100 TrdgSesGrp 81 140 114 60!
        Stipulations 40! 423 44 99 SpreadOrBenchmarkCurveData YieldData 15 376 23 117 59 168 432 126 427 210 PegInstructions
        DiscretionInstructions 847 848 849 480 481 513 494
        =t: 37 548! 551! 549! 550! SideCrossOrdModGrp! Instrument! UndInstrmtGrp InstrmtLegGrp 63 64 21 18 110 111 100 TrdgSesGrp 81 140 114
        60! Stipulations 40! 423 44 99 SpreadOrBenchmarkCurveData YieldData 15 376 23 117 59 168 432 126 427 210 PegInstructions
        DiscretionInstructions 847 848 849 480 481 513 494
        =u: 37 548! 551! 549! 550! SideCrossOrdCxlGrp! Instrument! UndInstrmtGrp InstrmtLegGrp 60!
        =v: 320! 58 354 355 336 625 460 167 762
        =w: 320! 322! 323! 557 893 SecTypesGrp 58 354 355 336 625 263
        =x: 320! 559! Instrument InstrumentExtension FinancingDetails UndInstrmtGrp InstrmtLegGrp 15 58 354 355 336 625 263
        =y: 320! 322! 560! 393 893 SecListGrp
        =z: 320! 559! UnderlyingInstrument 762 15 58 354 355 336 625 263
        =AA: 320! 322! 560! UnderlyingInstrument 393 893 RelSymDerivSecGrp
        =AB: 11! 526 583 Parties 229 75 1 660 581 589 590 591 70 PreAllocMlegGrp 63 64 544 635 21 18 110 111 100 TrdgSesGrp 81 54!
        Instrument! UndInstrmtGrp 140 LegOrdGrp! 114 60! 854 OrderQtyData! 40! 423 44 99 15 376 377 23 117 59 168 432 126 427 CommissionData
        528 529 582 121 120 775 58 354 355 77 203 210 PegInstructions DiscretionInstructions 847 848 849 480 481 513 494 563
        =AC: 37 41! 11! 526 583 586 Parties 229 75 1 660 581 589 590 591 70 PreAllocMlegGrp 63 64 544 635 21 18 110 111 100 TrdgSesGrp 81
        54! Instrument! UndInstrmtGrp 140 LegOrdGrp! 114 60! 854 OrderQtyData! 40! 423 44 99 15 376 377 23 117 59 168 432 126 427
        CommissionData 528 529 582 121 120 775 58 354 355 77 203 210 PegInstructions DiscretionInstructions 847 848 849 480 481 513 494 563
        =AD: 568! 569! 263 571 818 17 150 37 11 573 828 829 830 855 820 880 Parties Instrument InstrumentExtension FinancingDetails
        UndInstrmtGrp InstrmtLegGrp TrdCapDtGrp 715 336 625 943 54 442 578 579 725 726 58 354 355
        =AE: 571! 487 856 568 828 829 855 830 150 748 912 325 263 572 881 818 820 880 17 39 527 378 570! 423 Instrument! FinancingDetails
        OrderQtyData 854 YieldData UndInstrmtGrp 822 823 32! 31! 669 194 195 30 75! 715 6 SpreadOrBenchmarkCurveData 819 PositionAmountData
        442 824 TrdInstrmtLegGrp 60! TrdRegTimestamps 63 64 573 574 TrdCapRptSideGrp! 797 852 853
        =AF: 584! 585! Parties 1 660 336 625 Instrument UnderlyingInstrument 54
        =AG: 131! 644 658! QuotReqRjctGrp! 58 354 355
        =AH: 644! RFQReqGrp! 263
        =AI: 649 131 117! 693 537 Parties 336 625 Instrument! FinancingDetails UndInstrmtGrp 54 OrderQtyData 63 64 193 192 15 Stipulations 1
        660 581 LegQuotStatGrp QuotQualGrp 126 44 423 SpreadOrBenchmarkCurveData YieldData 132 133 645 646 647 134 648 135 62 188 190 189
        191 631 632 633 634 60 40 642 643 656 657 156 13 12 582 100 297 58 354 355
        =AJ: 693! 117 694! 11 528 23 537 QuotQualGrp Parties 336 625 Instrument! FinancingDetails UndInstrmtGrp 54 OrderQtyData 63 64 193
        192 15 Stipulations 1 660 581 LegQuotGrp 132 133 645 646 647 134 648 135 62 188 190 189 191 631 632 633 634 60 40 642 643 656 657
        156 12 13 582 100 58 354 355 44 423 SpreadOrBenchmarkCurveData YieldData
        =AK: 664! 772 859 666! 773! 797 650 665! Parties OrdAllocGrp 70 793 467 60! 75! TrdRegTimestamps Instrument! InstrumentExtension
        FinancingDetails UndInstrmtGrp! InstrmtLegGrp! YieldData 80! 854 54! 15 30 CpctyConfGrp! 79! 661 798 6! 74 423 860
        SpreadOrBenchmarkCurveData 861 58 354 355 81 381! 157 230 158 159 738 920 921 922 238 237 118! 890 119 120 155 156 63 64
        SettlInstructionsData CommissionData 858 Stipulations MiscFeesGrp
        =AL: 710! 709! 712! 713 714 715! 716 717 Parties! 1! 660 581! Instrument! 15 InstrmtLegGrp UndInstrmtGrp TrdgSesGrp 60! PositionQty!
        718 719 720 834 58 354 355
        =AM: 721! 709! 710 712! 713! 722! 723 715! 716 717 Parties 1! 660 581! Instrument! 15 InstrmtLegGrp UndInstrmtGrp TrdgSesGrp 60!
        PositionQty! PositionAmountData! 718 834 58 354 355
        =AN: 710! 724! 573 263 Parties! 1! 660 581! Instrument 15 InstrmtLegGrp UndInstrmtGrp 715! 716 717 TrdgSesGrp 60! 725 726 58 354 355
        =AO: 721! 710 727 325 728! 729! Parties! 1! 660 581! Instrument 15 InstrmtLegGrp UndInstrmtGrp 725 726 58 354 355
        =AP: 721! 710 724 263 727 325 728! 715! 716 717 Parties! 1! 660 581! Instrument 15 730! 731! 734! InstrmtLegGrp PosUndInstrmtGrp
        PositionQty! PositionAmountData! 506 743 58 354 355
        =AQ: 568! 569! 263 748 749! 750! Instrument! UndInstrmtGrp InstrmtLegGrp 442 725 726 58 354 355
        =AR: 571! 487 856 828 829 855 830 150! 572 881 939 751 818 263 820 880 17 527 Instrument! 60 TrdRegTimestamps 725 726 58 354 355
        TrdInstrmtLegGrp 635 528 529 582 1 660 581 77 591 TrdAllocGrp
        =AS: 755! 70 71! 795 796 793 794! 87! 88 72 808 196 197 466 857! OrdAllocGrp ExecAllocGrp 570 700 574 54! Instrument!
        InstrumentExtension FinancingDetails UndInstrmtGrp InstrmtLegGrp 53! 854 30 229 336 625 423 6! 860 SpreadOrBenchmarkCurveData 15 74
        Parties 75! 60 63 64 775 381 238 237 118 77 754 58 354 355 157 158 159 540 738 920 921 922 650 Stipulations YieldData 892 893
        AllocGrp
        =AT: 755! 70! Parties 793 75 60! 87! 88 794 808 573 460 167 58 354 355 AllocAckGrp
        =AU: 664! 75! 60! 940! 774 573 58 354 355
        =AV: 791! 60! Parties 79 661 54 460 167 461 168 126 779 169 170 171
        =AW: 833! 832 912 Parties! 1 581! Instrument 15 InstrmtLegGrp UndInstrmtGrp PositionQty! PositionAmountData! 834 730! 731! 732! 432
        744! 745 746! 747! 716! 717! 715! 58 354 355
        =AX: 894! 895! 60! 126 Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15 InstrmtLegGrp
        UndInstrmtCollGrp 899 900 901 TrdRegTimestamps 54 MiscFeesGrp 44 423 159 920 921 922 SpreadOrBenchmarkCurveData Stipulations 336 625
        716 717 715 58 354 355
        =AY: 902! 894 895! 903! 907 60! 126 Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15
        InstrmtLegGrp UndInstrmtCollGrp 899 900 901 TrdRegTimestamps 54 MiscFeesGrp 44 423 159 920 921 922 SpreadOrBenchmarkCurveData
        Stipulations SettlInstructionsData 336 625 716 717 715 58 354 355
        =AZ: 904! 902! 894 895! 903 905! 906 60! Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15
        InstrmtLegGrp UndInstrmtCollGrp 899 900 901 TrdRegTimestamps 54 MiscFeesGrp 44 423 159 920 921 922 SpreadOrBenchmarkCurveData
        Stipulations 58 354 355
        =BA: 908! 909 910! 911 912 Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15 InstrmtLegGrp
        UndInstrmtGrp 899 900 901 TrdRegTimestamps 54 MiscFeesGrp 44 423 159 920 921 922 SpreadOrBenchmarkCurveData Stipulations
        SettlInstructionsData 336 625 716 717 715 58 354 355
        =BB: 909 CollInqQualGrp 263 725 726 Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15
        InstrmtLegGrp UndInstrmtGrp 899 900 901 TrdRegTimestamps 54 44 423 159 920 921 922 SpreadOrBenchmarkCurveData Stipulations
        SettlInstructionsData 336 625 716 717 715 58 354 355
        =BC: 935! 933! CompIDReqGrp
        =BD: 937! 933 932! 934 CompIDStatGrp!
        =BE: 923! 924! 553! 554 925 95 96
        =BF: 923! 553! 926 927
        =BG: 909! 945! 946 CollInqQualGrp 911 Parties 1 581 11 37 198 526 ExecCollGrp TrdCollGrp Instrument FinancingDetails 64 53 854 15
        InstrmtLegGrp UndInstrmtGrp 336 625 716 717 715 725 726 58 354 355
        =BH: 859! 773! OrdAllocGrp 70 793 467 60! 79 661 798 58 354 355
        header: 8! 9! 35! 49! 56! 115 128 90 91 34! 50 142 57 143 116 144 129 145 43 97 52! 122 212 213 347 369 627 ( 628 629 630 )
        trailer: 93 89 10!
        """
}
