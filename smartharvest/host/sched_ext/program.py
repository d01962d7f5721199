# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
bc571e17e5352eb7773e33ac27527616bb46649786c2d6827b420dfb69a0f817.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNyTWloRRo5OT8M3pmB7l-?Hk7l9Q`K&_+nz^)J@zo`>D^fK@T~38%rY`J<?h>drMs(otE$I#vP6kQ#0Nq
kzK{??2&C|pAM!&aq$uBkAASPjgZxDsMT(S<{fI!Eb02jdRn@jbdZxQ?-^aP<ea=0%{I@@uAs;8=^{JP{`^T
$9y=Je#$Bbyt%)y6O{3KWS1bENMIUlm;6)--m+twQLik@>7K0YDZSAPvYJ|kga|L+^H06o%{^RB_i?^Wyx?K
y0}sc|RwC4LC&DZD=d@2|uAIlMm#@9*h7=7_Q1D>b;kswTkCSL9y5QL$GQ%-@2KQ3ZW~>&vqeuaCj|k44|L-
_}50R<e@3Dr9$6ek0#PLG;yGW6w{*M>NCfp2PhnGn$5P%m})WXWxYOrzB2)1?|@)K7R-8-<5p&hZ)Ih`2I(D
&tw0LfC>NSkl25Q#!C|ZzX*J0W-XDE*-z{CM{$oI$n{9ef6Qo_-k%XNMOuGhz(s&BNxYF*#mirp?XMeqea>j
Vj(ii$nVAv1n{(yl%Hrm%ki}=A{jalH?mvWvFV`Sn8WM;9n$@)Y4B7#)UbBnv@xiR-m!gHp`3nBED?&E-`b}
sz9eY?pUAUt6`s@|WH~D(`wF*7FBI(1|iq>W88=L3~-oK{de{ih?-{RR#2PVRpt(i;8b1TQI@SiirKjGMb`)
#iK&?VMYt)De)@U?U1ks2GFre}ZtF`;K$#`t;bUq1(r*K6pl!}sbX@ZEV$;QO#<eETzEeCLw*xNv^-IRR&{X
8fOgG5(}x{MCjSe_At67RC5GHRIoGit*<)<Nqed4{F9gxg^GE&G>_5F&<Xv*;Pl6rt#_f5)Om*e=h4-_+w}v
%QZiRb|n4C2hbkK_5Ta)So-+cHiz?J+~^e<a6c`+uYMUm7TQ+)Qek#>X!vxDaf@xs&ldAWPFx*HqUIbL{}h}
9<O6fx`yWF78rrEG{Cj9;67O$8dm@ed+bh!dL(=gbXum*up#5FdhQaTvHU$13K>HNi;Me{g+F!vo5b?tm?St
Q6(K7h?ijFhr9Ff0&fjnB({u_C%;?nP|+Pu!~xMb0e{jb7&Kz9z=)?C&5etuQ&i@L7j+otSCnRV2B;PTsQ{*
1lXRk;^_KQs0+<HolQ8jn}?UY|GiQaIpVGqcruoyffqPA1mQA+Nt-(Df$<U4Lfm^_Rw8e`C<~ErYJ_sQJ+T?
y8ijgTt9pq}j?`?85E;7CG@p_-7R7gwngayLaEAd)t4|q5JPV?odi5FmUSz&B-LrqNAAgykQa_@$T!ZW;X)J
&&G_5!c)rPJdIdJ2JDQy2!|6!#>21+9W3r;HYfqFo1c=54Ous*-SLEEc{+h+GR~Hb-qteoN8P-2IPSN)h_d&
_<2UK!-JQ35J+0}9)m|QE11j4M{L%Cz*4{A8@}{R~^ZLW^C=0x=5)WR7Niy`Jj7Gg7^ESMGILz2OA4yq0Nn<
bTo>IVo>Md!nKlH^80x}2K^cEzTV4Wy_8Ay@*IAvjvMsYtO<ETeQ(NP-aQ4-T$l!b>w)*}EsqvJdU<`CEy-p
8y*Igq0?nT&CQ=4W=Cq`8~}B8c)cl1)aGow6=XC(tosYV<T$GdQl~ghfZkuyz=A8R=#3(ieO-eFL~bswoCxz
B^$cTSHo^%aV=koF<sEDB5ecOs3<srA?RorOj@ZwYsuBh?h2_-a0YalVwB<(`<5>on^3Zm^0bO2{UH5*We!+
vKMSf1~L3x0S!*$en#V@2SoL72FI$K#96Mfj(VUeQI95lt_H!nGl?r*V-P1NF-$~Oj>0h=CdmL01E!Ar1z{k
lGd;OH>U;h$8nEG+&sPQk?=Il+6#y;|2aNI`KCJZ?ytj6Do;;=x@9y0ffE2KK$tS>eVZocHG&_sC6zr3BlhH
U#84cqe%}&CxzfeqVdTp?qUZBiFz2pS0CV)hC4C{L>{&T%*qEIlHd9U;4-6s$B>C?{kTVLE4bNfl^`2}GS%x
bU0*KKd_i*#>)cYAA}a-#OUC2s{r78eydNSEU0WZVPUmiY-E{8y8!<fEO=v+ccoiy(v|*jc@0U{NG#<%DI=`
MQG^SAn)B{gT4QmlCL0dPgaYDNt{%nk7|A$!%GS21fHV8Mb&gjWe-EnqhWKg>My>;5Ee8hPO~btcB6Rx+RBh
0&3Kc*bse8l;xRk8a;>7L=PHhmKK^(XX7xvB_^$-O-d7#jzO-zqZ(_K3g#-IXn?(nJxr@bO2BU)GEhq9bA@i
I^&Bgq@=JohKu3G+=GyhbG&$>)RVa#1TZK!tLWwUI1bz}D$Rs~zX#h&tuJj<_cnhFL@MvNGg17bfiDC3eh9m
g_V`Dl_85@mr#(hA>tscA<KnSn{qZN>Tmc%`u$I>=nvw@#qHSuovFOngIDu|E;&5c0m3I?s`HckgEzLiOp)C
-t50)o5-|J*2|>k-R&?4)vnFU5mnQO;5tLu8BDiN64iLzZUTQEB6Ny0d$4Pp&yRMofKQ%#=oH06EPID1qe{9
E;-O$zXlV!t{A`00e&RFakVdKWZW+hA}&$L!VZ7xS%01S?~}|Lu$oVCrN5J6vTI&CWnl2p<_^DLw^A$fi*>6
VIV^M5i~ttY}^G=fJit~7rifd4KE68)teN$=lhZOhg`Xqy<0Z|?(n?LP47B<-M;PlLX@|zS5jwUi(jZsBav(
c-h1b0%8-RGqWB0{Y2k)&^j;X>VsCN70~^VFDFfg<-xR*5Z*dsr-DB9mK%QrIC3u{FQeP1AlAs3}u>!;G)0@
ug$%6;RbP%sZsC|0fdBMy8q~I%ftF^N#02=FV1OZ>!?%V$gOibBwMH5RKxMs!v2Wt@I&0AG=)nj0t$(gna87
!o2jwg<7j<owUJR8S=GkZz@_Jufa3*Q5NTl`)VzpczkW#ZjQnnJQF?G_z_?BP+u54?>HL!Gg2oz%GzV$w;Ha
R{j?aeWFY`3F+P9#Y2-2nnl&6ULllYiGAZcRP3Q$x}i((+7hyNX4LXeTuIPhr{HAp^j8RSBHjrdp(?FXO<gN
mMZ~s<CP|68T5jc2$f%7yQsZi%ykN6(SlL<i1dPYF>|*wU)~#N+j`Hi?e)s;)#~mW)!kpH?q0c7-G6=6vK3@
`mJ3r|($>Bb1Wr&mWH8n6G)vrP=>$-WgX0p7^F3DqP&B6bt^(wF&dY&mF8w9^msood2c}+!z)RTv)(wn#u>C
P)ddOa(1J*u#s+sXWy!(to%CZM;iI1&`kZ&tfSiQzQASvg7nO_uVEX}2P?rlAz_x9eV4|cZhKA<~~AWDXLQ>
2r!bRf}`C$v5T%=y_YNk!1lp8Ixw74Xn~(DXQ4te|bMhYd3(>;X*4KGSeIE7^uqZTGJ!5-F{uOP;YL9Wrq?$
>C>EpZ5T2$cE0Nx9QWn_d8D>W7_2{H@px@@=n4GGMFTTz<@`?lj8)s1}yU$%cP72sYA^1C`B$NDm#Vuj=F=w
efuK2RxT71U|afp@g}CkmC_y{Foc8igsksxZ{4Tc_a1Zt9hR&;iMyCUR2ZYWnx&PZ&#JAcUR~R&ErDTaN-1g
S*oW%U5a$akjV}__B9k{{2{V>9F+9?72q)QUoy{hPzH^E+)|JnbEvY#UaG4lbojO5QrMU~8XVfBj(u*1E!HE
;6`r7j#gur&c4VjlsHNncGI7B*FSGG;lE~?|2^z;BgVk0Rnu^HaJI1gZ44aAzu9hpQu;qqsgs(O=^w_LQk;D
&9ZVD;X69+s4OV2of-qa?!}n(N7BZ3OFF`Y><StfYquY&fPTiBrn!mOVd`hu~tWI^UZBwJiHlT8Yh+lciHel
l%~XDy+kCNd<vs6|PL6QM*$6RX{UYFiKu9nkRIabi<*bt2iIKM!X>cfMt&{cx<O016JbO)tEa@b;hmW)S14R
4&qT&rRq9YT`UcIy`s!H&E?b|cc*8fMWN++n7ew-^R_zZVL#`gIKrY9?zHBqqpt6-mg74=uZs=-NQd}(F;*5
h3#sap*HOYUnqUnRBL|uiev5LJ8N~NNFX`J)I!`+H)=8xSky>PU@vL1~j@(kSMlBS949;>~s=l~onJ(}`pBY
T()i{TGE{SC|)gbN;L-gssDw{yc#LrB=Q-U(2V`jKK&jJXGD*G2wzaynDM9$OYa#?Ragp45WGPi;~k2xG$+A
K5=nNg=@F;CKY)`7~;56W@oJIQnfL_9YpCv_eOhMJYD7Hh>77zqU&5L4eZpr)*giiy=IwWnBlH<`r1)TSkf=
{BOv2{O!aMX1(BOS=K9_+64t;uy}kX8NYOtn5v8*58cTW?86SQOG>E7K}Odn5D<zI0Lc44#!c3g)hvce~Co!
!0^SE+jp+ME*ba@colaGVpKT&Qq<Wnk-6hWi8V9VE8qkgY!<~`qf*aW?u98{IovQ@R4JR#cLL3-dcP5W%a;g
KZU{KSHRhmI62%L-Wj7hY;b@F*`b+9W@FgW;&B98PDW8u-zKq$3N~h(9z+W?=7QH;DUNfPIgzQXsT_bDK$4@
c1>9x5J2IT2U80Eg?)#b|d+O-N}Dk{4dDHKgD$sgF&f^#lC(8**iL;?$XK%B&<Hj9wQ&~lCKBG(JtUGirONb
M0+*IY}ddcHC!pHHVAX$yEt@WtxKyPeL%$C#;Qc`_b5uCM5`pV*MS(;f@pd5B`^|JxT<oy^iOo@V_Jy|tTI=
h@0i6%wU8Om$<)3*1gu^%dns5>z+k1?&TbqI*iV56DxY0~l}#0^GFej;fbdIlLVuyb||tXK$bGJ=osr?12_e
y^VGN;3d`(FLR@qZVP~S_>VRI!>&seVYzUnvNBcSWWg2`^okRT;Inx=FYFo)qVpP_xC18j7;u%*mjP97(bY)
l#x^ck={EhvIo0`JRe`?X2uuy?(&Ij83BScEoR7?O)xvUeTR2()suIy@wHGW7=z|ef2^^er+~4G1Q=n;t(&G
?R8Z;jK@?_Wp-xQvCqc9zyqAXwhW?czd+?^xrIN_yDNWc0pk=He0J0nKdoOOf>n`Ov)$IOYT^vjHEul=YN?{
S{g!oKs<Q7I@Vi@W@DD+d=e;8NxU6e){zlk758s`qjapjDVASO@oLRuN_CSO0)bkxbV;X){0Fofq`3h$3iB0
gRJV&QDcp%7@p<yOW4zT^8piqjjgn>7x7ctmemm8-I;iby2y3-1YNo&`zQzR>?=lFfB64G`lTAjRB|fE-tNm
I$h!Nax-b;%xlhdDlms<R9${fugSNH6HocF!p+v_71Th7Av-kj7+1>5OJ0YQ>m-oq=<<^U0%$A~T=a8rWcRW
VlnPR_EQw7=s*eHzKFdmzco@Z&42)h&1iIgn0J4$~_4}2OWOo^q7%0OMPmi+G$T9%4+lHkF3M1%Bn-|}fV%Y
chU76SMM^Gi--Aq%|9<?{^Ji532=&jO2Uo7smAb1@~D{_0~!9!mVq!5x1Cw-bs^6>-?SooxN(}QFIvPc<r-A
9cO_uV(>n>)K(9d(W8+*n8DXA~5TgP1>8TK%Z3sx4gNQQ3Lkt@XKau?ISB_uHttkcylqu@Ipipi=d$DSy=4Q
k7P=%zG>?!Je|wEAm;I8uyc3uo~D3Vj^Z@ODo1Tq8=hiT+&hT8>V7IJZ3(K;vV5YyZA)2utze=j`Tb}g<sA-
+uo;-b{=(z`Wpc8s6H^vCPr>usJpeL*TB!>-chR|?o(0@oC~S}L#mLZ7a+zp3kr&yBW(FqwOVi?2&O!1hat?
gEU~08h|);Vtg|}HaIs<zdmW|Wh+@_d<756srXU|x7ik6l=>!q6i-?m2cj825?4-y(iBM(!rvnBs1x95j#Li
ibnYa<hmT(<0LGayGfe99gBOuN`!#`FCheOtb;L;rcT9D}^#7TRI&fthuawPnKE&fV`U>qa5#z%_aM$8Hp;W
3rq*@p-|lh$FDk=7tP8^IS?X+{)N)q`382fgc;eE
"""
CODE_10 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 102, 138, 166, 290, 318, 423), ((9, 'places'), (46, 'places'), (61, 'places')), ((115, 'scx_bpf_get_idle_cpumask'), (123, 'bpf_iter_num_new'), (125, 'bpf_iter_num_next'), (221, 'bpf_iter_num_next'), (226, 'bpf_iter_num_destroy'), (228, 'scx_bpf_put_idle_cpumask'), (265, 'scx_bpf_get_idle_cpumask'), (272, 'bpf_iter_num_new'), (274, 'bpf_iter_num_next'), (392, 'bpf_iter_num_next'), (397, 'bpf_iter_num_destroy'), (399, 'scx_bpf_put_idle_cpumask'), (416, 'scx_bpf_dsq_insert'), (484, 'scx_bpf_dsq_insert_vtime'), (489, 'scx_bpf_pick_idle_cpu'), (493, 'scx_bpf_kick_cpu')), """
c-rk(O>7%Q6rR~^ye?{GH^r$N2?bMB0|(l;RY4qRC`h1QETp=D3#*kQ8G0ZpM1;YoA_9mL98hz_aY-UnAr6+
x!P4de>M_TlUQkcI(Mmn!w(OhtjqO=`O?qb}>v?A0y#M#jteO>isA86B@G8^eSU;Y%=FPc-h-kRUbI%dtAc~
@*6xLXef3#E(yfG~<XnGfXs?BnWj(v{gZAjujqUYD#yp~X$via2cJ(lMRu}pSdeu3?)u)W=<1@s<e{^xmKb2
EGna_(1zcofr)YwUfb?V>rK|EE8{1pCermCRq0k0V;IUwJq-E@2z<*#3uO;&c~!DP9zcV3Xw(L|*ToaWdldn
3kb8c|KQy9K^9%+K^9@pN_+R6$A?iAm=L9ljqb4rd{a0Dw)stG3#=o)H2smu*mtihC1j7&R1E&pJ`iu(M|Y=
JT~23EkM1sqv`ww*b|)7G~{rJ`9-FGKwpUSL15~4SI1Yq%XSsyO_tl@b@C^Y#P>Vr^CX`udqR9ZF8()QN8#Q
vEpK{Fb2P8~q|Y~B+hO|BZ%n`Yp6T@sO{tFP<e<O4)$8lAKXKZk=2QD@#}4wD<vQwcdx-ER(+=|1iNl{AI&b
#Pypw^RFaAcIeZc3iu3GH(YHSxR)#vu2WPC1ZJMVE{z>fO$9`|!fd;-W{im69-f5`JjY%Enw4tA=Od&h=x!r
)C8`CFFEui6}!9O^M_AwH7po#K&2os$Vci~YC*ydxN(c&x^BUi-)XtYCi|`+fuVZ}rCFRqjjJU1HA-u2mPX{
@gy>2Ro~$A%6<;5g-2*`0)wTHAnPuuNDuDUGeZMsPnSTPknPf9`v86e;IN-#ufi<*lW(s*n0YMOQUvBOXe_F
+gvxsAOB78N$7b4df>m|TbqI$%qd#Acxc{u_^`(x+L!U5|3uGX|Llo@U4$@4UmVES^NXYPK>cFszb1a+dTLD
OQ>}fg4^@l%^4C*bnB7x|#}@ao+Tp%do80HB&3&(KGY))w>v11<sRTk#^zTEe)3A=XO{iyQsGd8xf1YUoSJ5
vY{d_Rd4wJu^3lIAG2|9DLll#cnXY{KU>uJvIC-AB_7O$QdrzBs9b%QgQH-Se5@u?WMp2RPM<D>YsYsocwQt
=D<TJnHj3ix#d`1ON%N2TD`XTYya0>A2q!!OnDS^R2?<tFv~mz)v*V7LD@?se1WZI0U=;DYM_FCE}zo8z}qv
EOqB-_#6i8o|4ZW*@i+T=#)H1^ND1e5zs|mTbJKmPYZ+P2ta`@aI$bpH1PH!#IicZyehXiodSwnM2}vLLTv1
cwR~1?1KINOZuOinT)e(_`2+I-}LddY~Bld(L}riuGGY>$$YJzjjM;mPqoeZx9B15(0$JR+Qs|qjC@DG+f4l
?>U_7KU({Rpm5n#u8;SQU^0k6<tB6a(<Ni&<iTkDZ<f8s=;0w5r`70XMy9V5@2BUd%QtHr6sl)6r|LMU!m>=
r9a3N983;)-%t{ddb;Qq9@ZRIIkx9ejmi|@UxhwqNO_1$Io{uKQE)0KnoGC6#&p<aFj{TBiKUjq
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=A
7fgQs4=Y{YYI3WCqP`(8}Djxtrk_nv
"""),
    'struct_ops/dispatch': Packed(68, (5, 7, 53, 81, 155, 184, 190, 199, 216, 218, 230, 232, 237, 271, 278, 280, 307, 317, 327, 346, 348, 354, 382, 384, 402, 404, 422, 424, 474, 476, 495, 509, 511, 523, 525, 544, 546, 564, 566, 584, 623, 627, 646, 661), (), ((31, 'scx_bpf_get_idle_cpumask'), (39, 'bpf_iter_num_new'), (41, 'bpf_iter_num_next'), (136, 'bpf_iter_num_next'), (140, 'bpf_iter_num_destroy'), (142, 'scx_bpf_put_idle_cpumask'), (174, 'bpf_iter_num_new'), (176, 'bpf_iter_num_next'), (197, 'scx_bpf_dsq_nr_queued'), (206, 'bpf_iter_num_next'), (210, 'bpf_iter_num_destroy'), (227, 'scx_bpf_dsq_move_to_local'), (261, 'bpf_iter_num_destroy'), (263, 'scx_bpf_dsq_move_to_local'), (274, 'scx_bpf_task_set_slice'), (295, 'bpf_iter_num_new'), (297, 'bpf_iter_num_next'), (325, 'scx_bpf_dsq_nr_queued'), (335, 'bpf_iter_num_next'), (339, 'bpf_iter_num_destroy'), (344, 'scx_bpf_dsq_move_to_local'), (669, 'scx_bpf_dsq_reenq'), (673, 'bpf_iter_num_destroy'), (678, 'bpf_iter_num_new'), (681, 'bpf_iter_num_next'), (686, 'scx_bpf_dsq_move_to_local'), (691, 'bpf_iter_num_destroy'), (696, 'bpf_iter_num_destroy')), """
c-pmCO=w(I6u$Sp`K^{|Cw<8zh;fpbsok`V)oKw^6G0InmS#HQ!XZsU#7&qGOrNum6twI5Pgk8rOsgVY1X5v
OW}^lK$+9pYUAS=RO1kQJ?>*mr^X_{yFDb1L+B^5}+;h%7-*?W9n`P>&9&5H`+Zd;QDZyBqGgc7oCDG5>%=m
Ja+0R_0);*jec|&(d-m^5Gj5BuUpqS6g{~2>Qt#ik2t9~iQ*raF+qCFwyP1C+BoZ433b@gi-{i=iZ-J9whH@
~CgR6n@eCi!c0uF!Kwos0EDx7GY7hlG9Ns~)&VdftSdLal$q_*R<wjdg0bVDFajL&~>b&+GnHlKKvNkJh8_*
5F_GyJV5Q)nmJAd{x*bT+QZ(c2r-VKmXC+s-NQlf6q}nm+0J=JgV_N^_PT_^2##M&mGu3X!vjFzLHyqoCQwn
-3{_brVsYl;1@A}U)pEEe(|p&&##fbKlanQSc3epD%xRXH`%w0`Ay81m!Q{obYG!(x{UceS?+F-zB4B=K601
zgPt>^kZ(hNh5F^wuw#YVHE|9{JQu|$$7EZcp!wl~xjrZ2@p<vd-?A-FL5^^?RJr^*^ws;a<~g3+d{~c|+=u
?$Cf&2Pr;PYt<2dJ4oCEvyx-}be(3jrIh)=B*Um5z8ee+y=^0#b{WBzzwN3WMe`{Z*S`Ko_991jvFI_`_?`*
zg4Tf1lA&aDv+e;TBKtPj$@Kfcaebl-%R`pY!FnkIZyuTebBrYYX*pK1Og|1DV*$05AH|0SDnw~hO$o}qJ=a
Zhd^?JOgn9NYHnku#eX>E9Ca-j?=m!rmnCA(T8T$17ppIP2$)ipd)eJ4be0BR_4Y5EtN&Qj+v;xYRGCi6=vL
Ue!GO4JRH{p}@uy3AMlXdg9k%@WrCw=Wcrb%Ho8dUUG6Ir~YAg{^-QZU+t)Q_ZInKJaJO#T?bz@F2Vj(cl&d
RfL@>Kd)=k>BJ9NdF4~;(K%VA<_V%+^NIxO>I`48`fVbQY;<F6msk%b>ttY>YHYu-(`2`hkbU?$4N7!rA{3P
^tZ&2Q=VqNP+J#OMa$Gw|<hvLCXdU^DL^fPd_3|@(|H+j^($bFMO|6E`{sP$Wn@Z{F+wEg*gF8hpXXMwkVE8
g92BY`}s$7`?$`APC|WF3;#eucgEd8YlV?EMz@PHB6;V8Q%v;COux9Ipp)yvj9x<&R~=YbWngzI=3CJ4Su-G
2*tw>D(ee4BRL8g?sk~>8113B2V|ge<B+Hkf-h3n+N{fCl9>E4IT*L^bOuE9)fy$_(Z%{D}>KNvWMSsj(Y?+
1rD7Ua5`<qZvi--)cD;1PJ!E2p8OMMuaVzxQ9g^M>E3i+Yap+AI38nO94o&}Q+yX~;wQfx%P;41$gz9iCmyi
(1?YWV%Rdp4Z%4?_oWg!jzoVi3vB#?4Qz7~BhtlszXn*3d>X!=1m-n|{{T#bZ^&8^Ju@HBNC!Hs*AntYDl0+
S>=e@c&7N~o{gE}8d{P^qL2J|V9b?QOOcaDCi`Ok^@@}I1;je68KZq%U|Ux5FEb!h!7YG?5-y}*dy8hF1HIN
qtr!2P5G_mcx}Fp3j*y{YhD<hIBEa-@oV4e)`xV%Cwvhp7F9{myhfItiXvybnIC&!c{|$u2LBf_ZDg%v-u%c
kG7uj+HaI?$_^}me_aBSpRc(zXW+P@SfN22QN?cHNE#DSH8N+BKZpTdU@L3U!Ioo6`zd&FV>l8J`3`qu7@V{
{)uS53hWQ*8Nj#ZU3W^$ACKm<J@tD!ny(&Nzic$0?Wx~^XujG*zo0zFqJ&)rZXC{ycXA_d{+&m^SChzddVY=
fc()^u4`)01-r%oM^ZhG%#qyn_apylL=EJ#+TZ6xR;|71_1N_CoUxVHGE67WG@mOXcz*`l<r+jzHUqwy;t0n
`yb-5RBo%)}7>*z!B)`-bJ108<gUCwP~o89WW=1jlo&uz=B6XVQ@tVg^3y{l{8-($bSo}hOR@9?2~0sV%y^K
RmJfBYL+|LS+pmn^!Dj<cBua{NC%3;ik
""", """
c-l+gU|^79U|^^O5kLR{3_bxC
"""),
    'struct_ops/running': Packed(78, (18, 23, 56, 72, 88, 90, 96, 127, 155, 187, 277, 307), ((9, 'places'), (48, 'places'), (63, 'places')), ((139, 'scx_bpf_get_idle_cpumask'), (149, 'bpf_iter_num_new'), (151, 'bpf_iter_num_next'), (242, 'bpf_iter_num_next'), (248, 'bpf_iter_num_destroy'), (250, 'scx_bpf_put_idle_cpumask'), (262, 'bpf_iter_num_new'), (264, 'bpf_iter_num_next'), (301, 'bpf_iter_num_next'), (306, 'bpf_iter_num_destroy'), (313, 'scx_bpf_get_idle_cpumask'), (319, 'bpf_iter_num_new'), (324, 'bpf_iter_num_next'), (406, 'scx_bpf_kick_cpu'), (409, 'bpf_iter_num_destroy'), (411, 'scx_bpf_put_idle_cpumask'), (415, 'scx_bpf_kick_cpu')), """
c-oa#L2MgE6rEW+wu2gN8rQ+CK*khe;F89zDo#LKi369Y0#nq>%1w}~UaFLeWZ6?I1tjiN5fY+qB$5N594xs
9Blm=Q%rR0fh!Zzji9>J8%)B@D&c<8HNY?kC`Sa(`|L?!qa9)_v?m&j^cOj2cKVEY5=+v`V%i#m)MNf!laU5
5raK@(k>8arc^ef6utR^Y~hEw94k$vt9x8b+yxqh_&EvfCNjs9tV)_ADqT)Xh>KK$i{Sk-Y}d<*e55&z(X;J
L?O{|59{zJPu7bJ!H(sgk`s;;)FOCN8aG|KB71ea3f2O9}gy{3q7)D<3_Xn5W@3brt`U33==DT%A9iigp)%D
q_~GFUW#;PsxVFx#@iQbHd4MG`A)HPrZ5)_o@guZqx1)&JQ=CH>QNxm{14*W5^-nxZ+`7RK7oB@_ug5$X8Ez
qde@+=)5Aq;nG919+h`z?7E(*NYA}j88Us3ta!rJD)wF4GJYGZ+Y$TIv~TW8>^o!h+C|KN?&X9^Uu@!57U4C
lN8C5~8uGS+l}6TZ1$sx>>!bP}@@(sTc;P<IU1FY#$k)wV%p?6CE**#ubUfwHOk4ryE4hZzHU9L9wck;P={O
IS-^-4DT~5lIf0?);o}&6A)NAgskrnTh*%4iRWbhb$yBFJYwZ)hp9-8^hS)3oew2wa6CH_jlee~5I@N?q;{W
Q({-hu2fj-I+lDdEqqTfJA{y~I`6Q&0Cr*hSp7KcaUYJLj(4_{-?+B5|u^F~MJ*66zOrvCn55;r#xLgG=(`U
=8}J<i2g>!6$BqUFJigAN74p?87y44)XHz%dpEAao^iY*33Hcca!ToTo1mSe1HEg<E^9emT#AdyYTe`#KriQ
Q#cCR(1Y`g{~F{v@vQr(rH0{DHG(GAYYVP@RpI`u8v4JM0sCsb0KN-8WV{P5kJxiYe(Oi$&<x^JZ~ugP+WQ2
TXeW8j1>y9awOh~8Pl8{3HH@tq0pkf0>rxH<U&}?VFP6t~=@<3b+hhMmKYtVlx-TrQTjG~kByeEson;?(_np
2AyXeDTPXd^Oli2slJ;>h+KT!UNcY23@i+rcn{-Y1q+&=7&`tVJMr>jM`-qn(u&+4?BzqU7iH+27XJoHaCPa
ilusq-s|GY5~Xf34~AYVgIlP6ij`UEkU*jPaRI;4&c3FWwuk>$>{$llyy=H}+9W{24#bu3Ad**PT7c2jH>a+
ShST!>z-xFd0`_b?lS>{Eg@1u_Ew5SbmJY2Y*<eO!J+6_g<9mES@@c|6TWc#`0BI2j2$l+rcfnPQGN_@*erp
BVTTlFS)+M^?*E5k?gM&-z-xf)?NNst{>&6e1?4~!+tiy{<REyndCjrf5W=kd+7Wc{CF<@ll&$V-vhO!@q3Z
%(-Ci;PVr_v#ha=7+j?d3W)@$r7V*6_;!EP%;>vzEjc}fUQ`=uwpAtE~|M*_%v(HE05A3h+DE|d7lk83
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNmUob)R%g963Geh_`>=3>K8Xo`$SOjz
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 37, 39, 52, 62, 90, 140, 220, 243, 294, 309, 315, 317, 330), (), ((84, 'scx_bpf_task_set_dsq_vtime'), (97, 'scx_bpf_get_idle_cpumask'), (105, 'bpf_iter_num_new'), (107, 'bpf_iter_num_next'), (195, 'bpf_iter_num_next'), (200, 'bpf_iter_num_destroy'), (202, 'scx_bpf_put_idle_cpumask'), (216, 'bpf_iter_num_new'), (218, 'bpf_iter_num_next'), (229, 'bpf_iter_num_next'), (233, 'bpf_iter_num_destroy'), (326, 'scx_bpf_task_set_slice'), (334, 'scx_bpf_kick_cpu')), """
c-n<lJ!lj`6rS0=%O=rqG4ag#1Lt{xh>aQr?TkjzE-DGyt!Kmon;4D6HI0dgXs6;2RvrN_LLv%*SOnHGrDfn
6ODnOoJ7?zm_I78J=)m#r&3p5Hzc;f%L6}u}3L3ruz2XSbl!_k!KcM*giWaiMS_PXGGl#x4HO=h@AIw1`$h_
^+bj20ohURy)Lx0atqaVokMqYW?Z}xWyiMSqt4{yWXl=`*lbDclTxvKiP+8^T@?GWOW_M?=vg^AaU<I1|Bei
eM)%NXjZb6OH|zwW8L)oR=m;-apDguM-Udp4gVAKWgO!2N6VBj`uTwIt+zUC@sQKQp(!ntY09SZ}3!MEl94{
OqKkp>M{|ibOs0tXC-6N7i4rPs>krGj3_y3qG)474m%xrVmBdyODVhKT&@r<Y9^Oou8$}=NDk-68Nf;D(Hx%
9>&)b<H^J|NWZg3kRRpYEa>BI)G4R|Cwcjs`Ug>8`3rG9TQKs1lgh8g{CXmMt^seQwJzZAb2I5@rgPo!A<__
@g6VIyzwFs@Ez{4k0$+RLd^+yscHl6m0k1Rfz9SDYhVzt1_QxL}&q@d9P*E)kiQ{S;@E+9GQhod072yGS{W0
>@=iqNho|{L0xnAZ|W1dR>N5|_hAN89|#J#v1dYKO7HKl0L$dS(k<#o#aH^f`2AGzy{w*({x^N4fgDEALwPD
92wQl?#(b|=C6Cm8=7&}j#CEGWG(we+5*KJir?u=Vv^9aBsH*VO0SO?$wrf1dG1=Xz{EExV<Sap;lFk+0Oz&
nO>%n0lNG|1|wD|447zrJde*ZgXlGUA271<0s@&E&X59!;~NHjpI70==OuLeZ!yFhy#uH2)|=u3G?z1ecnnh
sI52cdBt3P;)S!yhhpE8=-vUYf_dC~H@$IlF2a9U7p;3!<1(E5&)iMgbC(y}Hod1?_dy@))^6h<D>^rwi?|+
b|CC4hM19YS3%~*AQoko&0#8*3a~a+x4$3h;t-0xE{O2$q!64?{zl{A=_IYufbIN&{axte9FM0kf8Zt7Rnk(
Wt@1QRs<9Ol{XOw#m>s^j<BpI(YceG#Rxk%rC6ywq0e~$U3^ji2Y$M=YZ|HQt9`*M8WwIy+W)UMO0%kKov^9
22mN__XM@|~T^z)m%TJ{8<lUzlge{xpUQa!A+tIKMZzKbF~x`nj0ZfbsaeKl1X6se7IEZItm{kQJYro4(upe
#%SW{HE7wy$@;qt?uE*;8hcEREI|Cs{n3Y&I{hv6({ws(atN<mBjs<T#fQtOYS7jXT=+1_b=0DlWY
""", """
c-rG&U|^5}Vm4+5Fi3#%W#l3J2~fVeGK9YXjo-lp;oGo7_&cEdC{+j_0NDry69
"""),
    'struct_ops/enable': Packed(84, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<<Nl2;~cMpzy1ue*6c~`xim@>`V*{KmPy!FTu!w0$PC>B(xn!*aK-%1}3n0B2-;CR9qcM8vtn
uCRF|WLQwmaR)BTvPlTE)z`y{s?*A63x~Wha0CqGMss
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/runnable': Packed(86, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawyGjE=6uoydNfZQ=B@2s93ZJFK2&ohV8(U5K5dDZ@Yd=9qspbbP7Gfdf7t-e=B(O!gaqc6LS<+-+Ih>g
@=bk-do50I9dx~qm7x3(8<p^h=!s`*h$~l)J1nbp*w3UDyRH4f_Rh^xPPa1{y$Zw3K-)BBB4R%N?q0U~-#m@
jdQ?9!U$=8v*KP}L?2cka_-ZwS5r#_1gz|v!G)_Iqli@4nX-SAt@cS(q%?_=R;fAmmn?PWGm?(-L0dYbB7>W
iuveuz&34L(1^8r*n1N10ph>oA6(*DN06F7K10{8s{EJXGD2?w9A;Q^n(Xpxfj#rF^abe5kz>F3dM_e<1JCe
pKK4cTUj07XDI=z{huW?@K3HSKlrEV$5~Uo8lk5=1~U
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/quiescent': Packed(88, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?^7i<8z?!tEGPY2hsZ%LHO)U3=BX1|Nk$+$bbS`ffyvT9Vl-Pq(vE+z~YGziXj{-t`4LPfHb;
(31(D2zcSQ4MmxYNMVVM2_5;;{L_qd{B-)|o--fEk5Les)rnf-NoeHG^s)H8+
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/update_idle': Packed(90, (5, 14, 46, 74, 153, 184, 212, 299, 331, 352, 460, 511, 527), (), ((21, 'scx_bpf_get_idle_cpumask'), (29, 'bpf_iter_num_new'), (35, 'bpf_iter_num_next'), (129, 'bpf_iter_num_next'), (133, 'bpf_iter_num_destroy'), (135, 'scx_bpf_put_idle_cpumask'), (145, 'bpf_iter_num_new'), (147, 'bpf_iter_num_next'), (162, 'scx_bpf_get_idle_cpumask'), (170, 'bpf_iter_num_new'), (172, 'bpf_iter_num_next'), (269, 'bpf_iter_num_next'), (273, 'bpf_iter_num_destroy'), (275, 'scx_bpf_put_idle_cpumask'), (286, 'bpf_iter_num_new'), (288, 'bpf_iter_num_next'), (325, 'bpf_iter_num_next'), (330, 'bpf_iter_num_destroy'), (338, 'scx_bpf_kick_cpu'), (340, 'scx_bpf_get_idle_cpumask'), (346, 'bpf_iter_num_new'), (357, 'bpf_iter_num_next'), (438, 'scx_bpf_kick_cpu'), (441, 'bpf_iter_num_destroy'), (443, 'scx_bpf_put_idle_cpumask'), (448, 'bpf_iter_num_next'), (452, 'bpf_iter_num_destroy'), (531, 'scx_bpf_kick_cpu')), """
c-qaEO=ufO6vt;)YwaquC?DNqZ3?ccByI}Daaw3{>W5oOPbwusr?OQXa8e2;j%czG1l*8@9-Yz;dJ~4oDQ-!
rz&WUFPr=6=4Zb8j`IuA5O_`bZAMeiCYda=~E`;&SyqS6L&Hw#Ii4QXMwcq?_Alqb&`VEh<0cUJXv{ywxbeQ
p#XQ_=3_|#TcUY2c8_>;@l6ZUeXeeIFjx6W@XyO3M^T+;j8SL@p&>&iZ^z^{?}s(*98@JD>@eXHc>9h&!wj6
D(Ky%P14Cbd2I+bb~UXV&*bN4gMq=$wF)Lp|SIukGUwofoh#$PVYk9pnr7Yl!pSQ+a%-##>@r;ToG7SyBC|U
+KKO_?upucll@X4fUtRCIx8+zvAJCDo@K?=jW-~w~u|!bFz;Y$nWwY#MME*#Qam42M2i(|K!qUhx}YRLUyi4
@wY@fs^X=%W-#Byd=$g4F5UAcot(pbg(8m^$luxo#$R70|KMk>iv0`Nf1di$8N@*{Vpklx$57bS#iukTzUUO
qkDf5?Lzl6)#V7xkZS*1b5%(!wjy{FIdfh?uoQ-`eoBeR*I`o@&>7I2w(Io6R&iMf6AbxFkrGS0Vm)R<dPuY
quf<IAao^ukfY{xM_ekk?pv}j*?Bi&#1&urF%tRJoSI{R&~-Mp@cv`_W<2ZY@ZY2EejPpW~Wi+w!OU2<vr`q
cBfAF#JbH;bsZ?@%X2s<)O;bryQ2?&1#Vu?)S2CG-A=*m1rq&Md-zADk&7e{(y;F=xi1`4X@%4c<I2NA&qqU
+usXaH>%vp7fEo<QH(o2Up-{d?be}^Dl@i!{AB@Tq#*x!F(6<(a*Ryn<w8=+rNM~@96hpk9<MCqIVI`>@N8-
X4>cS#Y5eH0{_Q$$(LD+FS90R|2KR&Zt>;xPJCJ18($8CFNbN}tGNFM{sMauoLMgE`aH(6bs)Ktz1Og4=B4S
Rbt~&^+Mzm;x-oPM-NmP%$7-544*eK9!@Z6|7ur6$oaSHMH*`_fb|=zz&CR@LvW|@V#`yTf)Lvd)d3fu(-pC
txP-l+@+u7M%iVxf~^!xYx*9QNVQ3rbc1OI~2Z|_^*Qa5?`8{Y+2f3n_-67f{uzx{6L_aaZ90sD-&1Ag1QZ1
~{qoXySk=i;V*Kc=x>^Pr46)SQbe#O(<6-UlC-@O#8{z*~oSJA>b2U5rQIO~4-yw&GF^{iI@YrdHX^F*nEF&
#~X1WB*!?J<swH<F|1CIu4mnr9a24rz{5*Z&6R96KQ>9>wJT+Rg13`i?3Gv`hN2Gn#a}i_#I>aZqqul>m#3^
>jpo2(DjdO`?{_x@AKz}*neu@CiLFm_<sug*W61ko4gBMtG<pxzaOuHhtTimh!=TZx&i&-oo*GN-zlvBhzL`
gwBB=YFmV1IWVv|@Jl69b^uK2g|6p<Ww#DJ9_3l=4IGh<bbWu(DQOv%t6K0;y7Km$FA2T@rET{j!_g|rY%cX
s$-JJIcaVEH*waJjbFZ28k-BX0|x=X<H3Z&(D!mPi5|24?+Wlh8(i8;jX8JxGzU#qTc=-kQZcZmJ2);$BOh@
}$
""", ""),
    'struct_ops/cpu_online': Packed(92, (), (), (), CODE_10, ""),
    'struct_ops/cpu_offline': Packed(94, (), (), (), CODE_10, ""),
    'struct_ops/cgroup_exit': Packed(96, (12, 47), ((19, 'ends'), (39, 'places'), (54, 'places')), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_CocT)A0!{f$Ol%p1*i^)7?PzR;u28vVIWa
i08EE5bAah&Aqao}BB(t~5PKvTQT1(ShS<9uNH9U|Zvydw>Ody(i($I=1Ju17NdAJkdpp$p%EceR?&KGS>R$
%c&jxYF{zM2LW)4h0y8HGgA<PF!i8Am){0mj5#>mEC2c*@3d;=`u!Y>5%Cscj4&<sXm!Ubd>Gst~V{!}Op0O
(LVSp
""", """
c-muNU|`S&Vhv^nFgO6^i$eK7fLIqv9socq0;&
"""),
    'struct_ops.s/init': Packed(98, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(102, (8, 29), ((41, 'ends'),), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaS<?oJ5V17vbn;z&E-H
cw-RbjwYUV_908DiG5q>r_Q1_q3^7N75!Ia_eF{Jtq^|+0z8J&@ii4CUOF{G{772jWhcR(5K>P*a?_UHphY4
aoy7}9gA>p(gNH9UoZ-Sc7gk;VZsQRf;8UW81I6V
""", """
c-muNU|>iGVhv^nFi3#%MWOr^P`*Degbx5jK?2<
"""),
}
