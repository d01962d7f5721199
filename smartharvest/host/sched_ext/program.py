# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
57d96b8ded06a218b8ad7f48d05f0a4dcd4e134ab1fb22c776141d49bf6394c7.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 73216
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNxTWlm(R@aV6W_EW-1gw@JOHvMsQ`OVmZqF-VkL{g|JBc-u@x=C!Sw^Fpa@TEl$=y}$s_L<w&4%SA0bhK
r_(0kfA0Q!t0ErLyVE1Q`5Ud0Ut;7#PLLkt7021(p1n1mG-A7fmZ7pSY_3eAlJ@=e*&+9(E@x2-Hql7=5&+*
S%hsbC41$fQy^2{8(oZ=^WfdRm0PQd(t30L5FQI(B8<P`;T0bZAR`NBnby&-U6{g*UcpG7(a9FR(Ws$xti&t
dspMLW4G=tEo|!RICTd<{O2;qw{zd|Qn%N3`)?siFN<2>?G|5o5hvF;*4MAA#4Xf<K`3(yXBChvD;!yzX<Kh
wmjQ0PNiRP+o<yoU_dtP80I`0RjtryQ2One8L$nTf{q>;j|;aV<`VP!oznCpVtIKh#&svkmz56!e@!`%>I}v
f999r^(!+<4qxYVvgfy<{6%a2UWeE3&G0!w9=@gFe=f?%%U=pS*!OQl`D+@UC4pa#yECii|EFh_93=d_fO$d
a#$dM4F*1Vk>jM4|%0FT1!|WH}mCq`fd@S%2r305_`AzYS^#1-!yf|B-2lib5`AdAR->PYU>jH206rxLVtT!
sg#;2)~*n-!8@rIch4l{QeO+R#zkGTlt-?^w{{YOx~D*B)fT^F+ZV-7!u!+ZzI*DSrc0k6NksO0!uoBQu*`2
UfY+4HYZzG=<n+wl5#ZLI&fsCXva_KNv<!;(qew=RcSO}3Y(z}fQp-Iuw%ZYhUxN%FC-a2wxPMBd(hRq?a&s
>zQ%<{b+s;;7THH&3CTlyMpDtyARGs*$q|N6sL3Tb{4K#^t$H)4n^;+dn)fJ@8z*d<wspPm$N<GtmEMZ*uw`
*R=oo0&jm((@tF8?$@;clV}fW+JD32?Y+AGqMg>XFEx1keocF?$=jm}ySZTbq-k>cJAnsd;(s(%{Qh4kk7Z|
=m_y+Qeh|u;=>K^rKNJ4?a*N@45eIrpOymvzeIdoT*)n3TObuppEuKx_^-jz1lLg$w$^|BZsX2?s-)ys-Vvf
8vL;euTAB)C6f$~=bt$zyTuOc1bte&?;e1jP97f}8bVW9livJC$1yRr-p^Y3LDwDDisTn^s`-}7%!{&_4Xg#
2e)#n=}Y)qK3XsN(7u7P<e${$CX3Z^GxwBJcZam|ra_AC2=N<MaBWIUk>x@!60M)^7m(MUlTe)aZGt(X+p(;
`~UIQC69Rhne_T!q0H~VenA?1ql!3UzPB)COsDfJ^1}~fPuVpu4BayITuLJZ)x;A)##DqB0bM%6g~P_KP$#U
Jb$pr^#OCGZ)v<g*LeRcZLIHVWBr51`#)>Ee{WIo{@)t!m>f&qFLk({e94l-&q+m{t@Mp&F5l#dIL~sTI48b
;dwcu#m;Ig1pXvI$Uw+W_eKLWDo7erEOyVrsk7?)(lX#z1U%RSTBZB;7OvxxX_Gz4_5zWW}Jt5D6;e?X$Fz7
)Ajl;}D#qss>W0J)FQE)&fW0H^ky}ZAe^#(MQb?wCraQ5={-nifHA-&E!58m}3Y;V2i7CoB|08M(ilLy&>FU
k%4;W=L+j(CFj#Q9{^X}HglVUR~d>PRk~hPRLnf|Q2sy&&%m9!F1BShuL}xPu_`S*`1NL>qwQgOmoLAI1HIj
H8f@lVQ|5A#v*W#*@qshQs8DhJ^hX=PAi3$$H0xv&RtarwOnK0HPA)7v(1;n~Z#VOnZJhfr=3&y?*AWhZ5*G
mw^3Yu%D458to5qlELVdgxR70jCJZPUoCi;7u@v{n4x6Y-Vbu>eDVpCS8I(E?yRmlJ9pmiZus3tyB>7EvAo0
(K&LF15>5}D#^HocsIw}1XSB`fYptb+D+K5q_#gwIJr4GUNJoeCCTWUXkTi#X<OSXWC;~m`EH8<{kXnYnwFd
BQ1C?{d5lv~{HV`<soU2IkRTvA#gSR4F>Z}vw1<l&jwL$!9vH@ld#PGhqv%9@{XV?GW_9Oq!gNHka{8|CUky
sOr@>}u>Z9^CsPx1l+SOFZ@HNtu@Cr+d2?YMfihgyDTYrE@jcW-a75u1)wC2yq|2F$`Ar^z1m8Ak^+jp@)`7
|;|(6}Um2!9t>sY0`J?2CwNz3a&Um=`@^3L#_nKtfZe(oc6OBkh4&rseV44j%PrJAw%QXBrE!GE|4f`<pr8O
3cx7Rqa+OhMGL<@r{yg1&b+;~Dhg|B&JsX%j&E4c!+ZDi4uFss5cZn&0IUZxbPJSMYr!gU>RqpU9_!rcn|}p
8Da|Ko?6^|7J<+#;otDf$=!7_L+|*_kpMEllQSWYE$7zT0QNUTwCCWj$=%u~8QobIm;UK=Boy0xAPhr~qAP)
T`br(?F*<%;<71#j#0Xy2c>p6=s7N{bl=+-SqwBNkudCCF>Rn<m_K*AAa1D{6*G(x9=>H;K6?LkX<Y!3fKvN
Q}^YezwpXMR6Pp%0e9hv?0NWElGBe237ECU$@>)!(P!bTSvG*>b3?L!8x!BnU$=Zoo%V;9f8bvA}1jquv4X;
JR`ynFyNTj34=TH}BkqVAt(_@L(7E$?$9URYBB`=}}c6W%bq36Pu<-(2Nc#7c}8belpG$wORwQs;|e|bfi}v
23g+Jd<=#(Y0rB}GIXNMkHR79Uq2XT)X;w^2Q{Q0_J_h-a?A{2(^(K`K#2Z3fR<Eug-nI%w$7)lGME&V(>N^
i)LDL8r(VQQD<6Phk!9_kC?CYFwJ2O6dcKflgg5)yWG_3(U|fjjqK+}9K@aIOIwS`%##n;k0b+HWguqTnDtv
r|Ruq91_n8!hu3C|_aS$g*u`rEMF!qN@ascFjC`axB&-qZ~p=Q^^=ztDST-MX`3U|%$u^ucqA5fqDaG@{Q?t
9x?4<9h=HJ$#vkPcA0u;9!KgM*aQ?<J!#SSB;O>?jz!3k7J?>44gWo}LrpBLG;|1VjkSW<OV|0C~OzkQ?21Z
$G@Z>wnbUeDD2T4vQ|O@XFv-SDnrZeBILA8DnaP1tTZAaz&DZd`Wpu#v#mTS)TA>znV-D?{9S<ZSL$E3?UXS
&gvmOgCoH!V=Q~j`aNkg73e6|&pFxn$O+|L*QLVf6Y4Bii=;{^S!%1MMmk+qU3lG6Twq)|4gRG<gU+l$k(To
#tGxu&s2@Q*fRsDR^32suondLB1M-we3(csrYyfX_pcR($c64_jdaujEa;1XVO2`XfuY3&MYLOFgdwUd=lDb
Txo3cNnimQB!%h$sk_om2l3(-rfkQ^Piixq~MiOAFd;tHZna>yM#P{NKG?XY(gXB5(RhD7*kq1B9#rXxt@ep
B%>@3I=0Gz^X1`ycur-M-s>_y7&SS!_4~#(D_n8RXDOMq_4-M}x${IF~t%MN&tFmGMgR#ROutAbpI%7GnsD)
?6SmBM0B&nJx<Z!cwAR8Jr#TS(Gdy{pQBKF5sygk%Un;#^hR$O+}p%oMdfN=cGDRVUW~4P}M>aTrBDlrbe#H
I02=HYe;AbFomLaqc9AiAPup+sm%GO<%^iRs!S2yOPWUHn6PRq2DU~L1M~4%4#Cnrm`YsBi*!#T)=CMDnD>2
Vo3(3ax76ZILDtq1ZXr*OXu()znQKOopp=%;n7&p*+N)~MS<{8hg$T-^d`dYrZk94=F&o@~tJi#Dm9`h<rp}
ZT={RIdx~B6f0`oqK!rqVuX`MRo=>U=hBkOAVur_P&N6%;sp%)yl)iRz8hg45y7zPi0PLw-g0?s8)z{rvjU5
2z1(tJmnAU080Tw^=-Vm=AJz!?=p=~N5tY&vICPqpHWFc_3qRx74EZ!l4V=1#M?GiNd%ZEbJt7)eYKc5nrU$
PuBEe?f;JWBL|=kVR?9KhIY46}uFSQWkm8!t8Y|>*Z<eT3B`Gz{8i$)mI$~s}H{Yqd6UBtql4}TWnDXrITwI
FcEN$sUJ^9xYBYLps+{NjHRP?3MA(1Xn-PdT@EU8FAd9aUZC*|DlJ(=a@EchsUgr+=hZd-Zh96~ni`du<Mv`
2f$D?*j?is;2IL+Hu_{N!d|o*iJvSG5foI~;Lpr!F=E_1hg4DwZzA}%|5w4UcC<Lm~<U~nV+n9*bN{Xw+ZzN
Bq%s3(=^R!nRX6B}^NXkOc@_0F31vXtwqvRR&^8^z4UNGc*6-rbc?|33)gu6nQtcWLapVk^`sXq>IAqRdEy-
C0~Me{)bPBRJ%pQ$^;lFNrBu4^fshQ6G{OEFnA2&ZZFT;++U5m;l$6s^n~yqIg|-Ro8!Zs+Rd@dCE2;^3g5a
{W-fqVc9|BrTXWQORfB?zbylGI+%ZU7>3^bGAgR-2gt5*B+;oj>f>_;~;-hiz?{n%&|qd-a)j>j>rN&b=|Aw
4ML4D%@fyab>-SuD!G;!?nChQ6I|Y6CXC((zxhf>Uv2DyZuuWR>^|&ntPtI0kYpTy(;>E>Cnc9nDqR(+@;{`
OF}6nQ6qY8)SKdH&<VijxWlW`9z85xK+X`1f0U)gL&Gi!J-Hd1?*M=+-g8~+zn9u&Y&;ma76``3$lmJ#bagW
*=#(d5<rwesMM(VUJW*hD0Y}MS~slW)mpl_XHhNfm^uPe2p){<c(?<=}D#nPDrR+H2@t8Z63_9FJP>8aKcL+
4<;_>josIc>oytBm!gs671`*78Y3dQ*8Sr>g^okTFdM!I-Do`5?+1+-VS@<D6mZiRPY-NMP-Io--TL@KtOq@
m3xON`YuqCuZFa9LsXbi|ERny+WHsanCrCwa<`O*nw`RVqd7VA=Iqe?9mdA@($9J?V-}LOjC5Fl42!=$w20e
(GfqD3#g~YQi-uX-55^Uzz~C4I~S6aQ+8{LBN`50c}A1v$#`s8O;Kkal!)4ChX^c4sg?WpX+~8m$25qiDGmf
qrC}>9{47-wQQG^IJDs4-rK;+!&9kICb^-;|dy+&u(G#}TIRkb;1KPyVO#?Ug1<JiF*^ZJ7Me@Pc&aS_6Z}U
!f2Lj>LU2F>hUIy4_w*zpRZgGU`?8h?uVeYOL9=)(avA<ejpAe)Z_KJL$%UR!iEpB0e<;*L5eD9dlQ@~WF{w
m4=rDMM^X|`%Sbx%*22vm=7LD3NBgOUb}?sC@@0bFBpm_@}HJ9tJQfP5t2#1&_Rx=_ax3!Mgo9F2k#Jb^oLw
GewsI>slZqiyxtG?Nl(q>dg!`9&M!$dc7qCze=udW;rHn-$v5f0Fa$jH+1*Cm@yL@{pBzl(~|%=R1h4ur!EK
%vO!1bnE~B$f?LM>dv0#r#q^G-zCr7i#7cuW2YRnWxQt1E97tz(X2<~To<&eG$dVApI_8$rDD?WowDMuV7JC
E>l*~pFB`qYVJe!8&Zb^%Fse0J2PphLLZ|{U%cRixz)Y0gmUSFL&UXleHxiO~7{vzFTCG8}syApxLRnM4Ux`
Unmr?PCGA@4afF4JN%IMW5F4a(|O;1<}|JFr0ZyrnZM2u%w7>od*vJSo@q5Mzx{>JA0_g3ulEE<Px@X`B1@9
bLKnE^~{LokK3Y;V%{lSvNl)?L60tT3U^638gTc~x<xjxApKiTw6E{<~Y-ce?Um(%OAz=}0w?2Qj;wP<`D(E
>X^L-C~|qtJP-XY?lH|ht;UsU(<6cNl*x+RNYr#SC$M_X=jV9#?TV1DQ}}n_Gy}G!Mz8`Eer)w#EqIxYe|ct
stNBy**eO911J{wt=)qt4hj3&!y7TsJxgLT%Jvl;17XL_k2ZJx`&;+BL|%>NH<&?SrF&I|x*J16t^)63vsI}
fj#E+&gay@rCYh3`4oGoLhk_$(f1~_V_2yELSMn<Fm!i|xEsJ+445HNHHS4U-FkIYPgR%D0VB}+*jq%2G5nI
J2Cmx9LMmgc$p71P_-8&`dc!@Z~Aw^b6xIVM1*cwKOO9pi!Zt)RZG!ip0)w<!(jDEtjM#snKDUSX^!WRex9X
-dM5q_3P<Y6OXI>B4w0ap8aLGOTA`2<m^5ivG62wRg8b<|4uMYZCnkYB$ixDFy}vw;-*3PfK@6M12sPZMeHW
f^H7WG5r|0wd3eoD-RM{vYQU9{&
"""
CODE_1 = """
c-oDXO=uHA6vt<hHoJw8#9HfCL8C&OTaze~TcaY>lRX&eEnP2$UfQV8EV)>r>Rmi~u!zO01R5}qoTN8<EcPO
ZAc*KOw{_mflHKVJaUi_BdGr76o40Rfz0(4RBSmC*Gefe|0wZ^C2J^P&=QQ8Z{JiEDG`|?}&m{h!bx-Bc&dT
59mu&Wb2@7<kJn7Gp&TZ0q_mP7(Jx%lP6F)=(=C6}KpZYF*3A{A=_oc)QdXFi-uN)v{xi0;;WGyv6^nJghV3
5g<`Zd+Bz5dsS_(DpEmrzGLTF3VKPmE_9yx$K)^!wW*ZZ#uB!0o@H`GDVl&g&F^IWvk|NnY=gujdu!uV^~hU
;ErQf1GYr(>bU+8mn8=ba~Vrj@30ZT>*6mV|AOFu86uptj?MeqN3?r8Cc(qtk>Uzlhn>fiO)y5g8jRvbgDi4
`X!D(gSRR~-~$)?TV9~P;{JNU+<Ix04{(C`mWsmzoCzUnYQP-W`YnoIWF6#pRSozLwm-w%Ys^uQMCdu$8zPb
iJZB=*_i&1{YT#Nm>Y;h52K)!R7}7&s(`E8|^JFK*ZLSyHBVM^0U#|z8Z>U~X*sJ{Ni`e?x%v+A<?NWbxmrr
t^BKHf$OF8DO7&u2p&Hy=|4f#3DT{UnIja;ZyO@8A1^2}K?a1M-|Dsny=@+&a6Vc-tT^+WC+=T~ITrh(Hn*H
0-r>RyA!tjRZ&r*?my_%7}8eaf76)5de=y`y`$$9;WI>6YL=x9I%rC&+H_cOh8!L`^~p50y>E)G0U*$5&bs`
f)aO9`o(Fqvyc)WI^)%Kc(sCIL|w|OmLq}LcZIy(Jb$;Jtr_8<}StM?MCy4b=H67U%~v3Tipl;_|S4YIeKp$
*1cx?4~7{B8~
"""
CODE_12 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'tp_btf/sched_wakeup': Packed(22, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!65#CI4Oz+eZIFU<tu9{^%`AWnhuPXMtZ5O+ZN7ohxeQ2q<3{wq-a4=7)o8N%mags6v^C%_1i&xgt
b0H@RoJ^
"""),
    'tp_btf/sched_wakeup_new': Packed(40, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!65#CI4Oz+eZIFU<tu9{^%`AWnhuPXMtZ5O+ZN7ohxeQ2q<3{wq-a4=7)o8N%mags6v^C%_1i&xgt
b0H@RoJ^
"""),
    'struct_ops/select_cpu': Packed(42, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(48, (16, 21, 54, 68, 80), ((9, 'places'), (46, 'places'), (61, 'places')), ((93, 'scx_bpf_dsq_insert_vtime'), (98, 'scx_bpf_pick_idle_cpu'), (102, 'scx_bpf_kick_cpu')), """
c-oaxF;2rk5Zp6%Y$PNcfrCX8A|XPFLW)#?5NW6#s88ez6sOcYfe$2Ku$0D<EBFMDfJiRfnY-IDU@HwLS);w
%ot>Sv>XAL_C}5N~j9uJ!gGRhKE-Qoil4IW?DyyoB1vSo#{>)WG{NT~p;u?8s#XPaoth0Q=<nP+}!3`}#ywl
86mtV~163vaS+jG`8V!hcRq3<5&pK?5NJ6s2zj}g&EW9rs=H&&O4x&HGfzJ|UFgM#yCqNvRM(|xhkmwbg->o
2zWv_@a!m$5=FnJ1#qzMnZAy3#mA-*)}}06g$<F(}1<_LDk1S42!8!IR*=U8fEhGxSXa=hbucTwau#^M54o0
_>5AQtWFeFpt-oC&C=l6RSiefyMq9{pG}Bj=cVq@y%oY9DC0t@EP-JJGBkfqmRA$KKR0he|6qF@f?}>^;i6P
Poeh}_zlD#WH0
""", """
c-j+SU|<jj;(Sg9FpvOZLm<Aw1mP<Hu_+M0fy!$Du{jW@K;=D{AnHN#AfX5*RPz#`@-@5={syQ#KOcn8zzkK
-4B-L*ojC}%
"""),
    'struct_ops/dispatch': Packed(61, (5, 20, 30, 65, 89, 103, 116, 166, 205, 215, 232, 234, 265, 271, 280, 296, 298, 312, 314, 322, 330, 368, 379, 381, 409, 419, 429, 450, 452, 460, 468, 496, 498, 516, 518, 536, 538, 588, 590, 609, 623, 625, 638, 640, 659, 661, 679, 681, 699, 738, 742, 761, 776), (), ((256, 'bpf_iter_num_new'), (258, 'bpf_iter_num_next'), (278, 'scx_bpf_dsq_nr_queued'), (287, 'bpf_iter_num_next'), (291, 'bpf_iter_num_destroy'), (307, 'scx_bpf_dsq_move_to_local'), (358, 'bpf_iter_num_destroy'), (360, 'scx_bpf_dsq_move_to_local'), (371, 'scx_bpf_task_set_slice'), (397, 'bpf_iter_num_new'), (399, 'bpf_iter_num_next'), (427, 'scx_bpf_dsq_nr_queued'), (437, 'bpf_iter_num_next'), (441, 'bpf_iter_num_destroy'), (445, 'scx_bpf_dsq_move_to_local'), (784, 'scx_bpf_dsq_reenq'), (788, 'bpf_iter_num_destroy'), (793, 'bpf_iter_num_new'), (796, 'bpf_iter_num_next'), (801, 'scx_bpf_dsq_move_to_local'), (806, 'bpf_iter_num_destroy'), (811, 'bpf_iter_num_destroy')), """
c-pmCPiPcZ7=LeOcV}YLY_f5ZRcd35Bta<Es1T$@iPS?c)tY2MgzXw7^dwPf9Oh8cV(n3dsz(#Gv9}%qk+Nl
SvGve{$3kf7p$CulQarhR?|r{FJM(sSR?!Y5Z{M5m-~0aj-uK2YxlBI6p4$yM`hAS%+aEM&yraf4XNjlQ*Q>
?>{*M~{WumVLy2D~zw;7Wx=ldDnlbpIo^GkWg3UYpe=F@`MQTl#Vbn{|vOTAW7Z?Ob<!;{LQ;Lt-wU)@LRj-
Z!sf<4#B{!<%j^!Q1Zwhu?lpT8~S{Q&#B7;A{NF)@BC=HUSJ-h|#WWi?hT&{;%R9H#ecInWJ~e>`W08rKD_T
nR5i9{dt6$Lwe{8f!wH6mdoTEr3sIEDpl&51u!&__Tb@AK7!C{7_pa{_Z7O|DJa->Eg0u`1w{-PCmx(FR&gt
4)r$oD_#1C{b5m@uO;%xUqO7}ACDJl{VuJCh})_VBDT@+SBQU8#Q8)lt{!(IKRyxTY>r3s#~FDd-*d=Q`I@6
2PJ#UD&mj&IEQ;&l7~gr=y=YTDR>Z%_G=1RrM=mSF!mTu~9)SHhJIYT<q4z88IxhW)dRcdqc~oXbzB1zXm&t
!xPO$x%n&(+AqLZR>VtPc*U6Sv)fm-)hh<?Wv_|by@Q6J5CohJXle^;&Kdk6aU`$dcNl!bq1#3R?_SUp4Uhr
p-lCEb4U$lr3*bc;fWR8_6PzXsnT@?FPS)^$-lidH<;*g6-F{4K}#WBf9X^<y;e9;LDVIq(QL5Z<7<u5%MVv
|aw7+Y_(%xkJBGeqUsX`fpeF!Ja3IUf1#5$4?2rw*1v#S$KeYp4<NTm2kmdA$_&GWT$_J^wjQ=UK1~Bt0cdB
f#i&eI+m`OE*SNKcwOoue4p=XgX1@n^-_gjJi8~ePV#I^Dvn2SSi$*Wk=|&%??_J?9?fv77hQk%-P;WZbE>D
C4fA|cxX+Ofg`^!VIEpw0w|bTS`lNxYH7fWb_7e;ezD76-dpC!vjw3u9*q}T`UC+AjDG!IMh`)pQ7l<!J+}0
2Wxj(snr5E*!_j>NJ&nRz!M>XuL;!wOpA9W$(yEiQ!*R|iD^EmF077B{LJ-sS>HiYx(oWT7w`+gDL<5_abB&
YsGdcA2mGwkn1*89=Il(M%z4>^~yZ#RA4W<C_Zfj#}t&_7^*BiNtK3BQNwy}8c;_9@Ow<e!cFv(xdY{kgQ4@
X4lt`n$)~ypp4Mj^(hQyutqwa3A%sd64Xv=coJ?Tp&5JUZsYzZSa2${Reg`KG_$ZRro^vpoeojJPJCTo6;Uh
cNphqFa`a`jQ+6#ymsi!3op>TrT$9~DG#k}-1Mi$uNT7K=lAKlKh3l9VjX?1p3kzM75y6O(O<sZi1#hE(m2_
P^Krn+r^d_Qm5l$ItNS<d*URp^oHO#mj0^J5-w(goRhr*}Uyv8FFHnA&(tf!^@p=HixCYKFb-<Y=6K9sV#u;
^fTyCD1bpN0}<@NE0E*@I{m#DJ}@N|av0iT?g!YAE7>3-&%=%dqds*sISkf-<A8L$5AfLEt@0<T)|WR_>*iI
I;jcJI@8X5h)z*Ta)w0XV`5N5&lRn|X^q#y<!=0Zw>%;K+2cj%44aa0K}qAYPjzq&LrwQJo)0|A)HDIg}S|a
b-74_RUABj%Mr+NRHE#W5wmb{&~AiotpkSi2a<@^7ppLw=?7yfuBwL##{JvZ`8hbTIA<n$-b>E{Dn7aALVNp
lP}}<vi5m4qka|Vs%IhZMw0i)=$?di#|HjQ826-{aZf^?>i$61WBh&;!k+5x=DpO4=_wvf+7aE8CYt9!;+_;
+Pu!EReir`M_oePJ)Cq7(_Wu$;W?jP15dDADAG=0;x{Ua2Gy37{lReaz<Gw8D<w^j)5P0N&mF)ZV_lQUAx9D
6<+)IFib=>za*|?wBZSE&g-}KP9pKL_;6Zs~@`YPhPIf3sM5&ci;ez7{7&;7<Z*iU}Z`^hu9Ky}0|>^u6NW_
RcpW8X~_uI)nISckH4&BRCDUrcEJiEP|5`xnzrqs}${`cqo|Xg02OwC~+)+<I;MO4+#9(Y`I&xYfZvQ=Vtd8
{c_&;`>U7^{e`OP^tNSRpHoh^E(ZPz66e;PZ)}Qhe_ZV?9p{1@x_Yi(e)SClZ(~6%-aNx#nuxzHf-P+2aXM<
<Cuw0o$#z!Ht=hS>Qwf{^4AQf0t;LNziza{uLJ)xevQ8(e(g%)P&xTs)zrILdYaZZZhSJ3^yj*j>`U{^%j|p
8zH6o4FWT^X>@B*7@g^Sb6yvWLoA)@5d(OX^efAnQ_8rUa*YoVd7jpeS=W8MU
""", """
c-qTgWMEKaU|{HAVgQ2$Q2se6KZ6xjegi9-JU0V_IFQ~f4dDX-8z~08
"""),
    'struct_ops/running': Packed(80, (18, 23, 56, 72, 89, 91, 98, 133, 135, 146, 156, 190, 215, 229, 242, 292, 328, 339, 355, 357), ((9, 'places'), (48, 'places'), (63, 'places')), ((375, 'scx_bpf_kick_cpu'),), """
c-oa#J!l+96rR~T-L4Y(?j(72i@?Z-jr`L@l3fTDwvanlaUw;KBFE`$?9N;)tW1_P0g;d{keHM{$&PGDk>cQ
72-Z!&rOSYtlu2b9t2jupnK$2?)$MA}!2`$Kn|bfed*8h8&8nI(qj?{*YA<6RXL;O9$>DTAra9Vy>^eg9<2V
kaNR4g%qowE$<aO;P)(gIX;)u9x<{sOrUHA>0v>)SNlK!ZXKPy&^hoF$wQ<q-DUr~sg6z9r$#Jhm__fHBwcM
SSxA+Hrnuwy?53qrinbGL~2eeuS`MKbJPCGu5{Z;oaO{WW<Q(|YUrVJ=S5F3URp!yMdtd@kWfP&7O6<BO`<p
OqzXMbGCX&duUgnGh*l!->9ppZn@c<mC%EZnEAguSefPKBu?8&$);2;u8~Z<qYJA<5_oLA5I2kga768W<GV&
N$@ybCVT<3nx8ZK;pFME-KP~_I_dl-F=z8RRv(Wzu4^oB2C%=@KVkEk%dxY0s0Gh~-J+3aR<M4{DF_W`O!1M
1`V#vg+pU(6cdr0^dk*G<`V+H%x5at<@X*A!zYTeFL<p+P=o84dwH<|4sWYw%T(9-MAjYbRX9j_A>ACUK;C<
iu7x?O3(onnDk3c`Mr{SjfqZR8<h#M*Ux4C#`@m4#GFUQy8x(w@!=Kh-VsNX6157w_gLmW3aKZ*Q~;m`N0<`
*T-;r!}HJffX&=@+vee*Qc7B0tTIlW?FLkESwl&$7G`B=t)D%GSBftLw2|t;&51dHC*3QkS$7-Al(Gbq3DYc
z3nmBJ-}zc64&Z_T#7AXNTBX|JL5dp&lduW(W3TKSJ+U`JrKS;AZZv!}-^a{Eg)JQ*B}Hai)5N13~+T_>KJl
|K#1s+><ZMz+v9*L;qj`^>$p}OYnS2eczLb{NjK5o@BqK-aPzqOTbsP()_V~$=coJ^S279$91Z&yz|&zo%ss
=mEV^J^U5z4l734XdlEdOxIQNQY(L<7>RMi9?#FduuO8t(Y=5M6G9`)l@A7^4-Zy65^7+)ZO!!FWt2W1(;QW
P|TT6d|KVSbH5BBZvoV32ndD#6e?q|f?H9gFms)y|#GxhX4Kzf(-p#L;my)B9NuEF(D$=Gdi-P?O6URU%mx_
UGQ)}<cwpXQGS?CBo&@fjh;E@0k&aMY)X@6kr)earL@8<(niW$=C)ao!Ut{tx4Qc=08^A2^@Z2Y<%mU44Lg+
?syze*Itv=QJO}zpbBae`xN)?-=7gEAf4`I-21H_mRyK-lf|m?$=pfY@~V7u>E@vb>$bT@8pI3J{yMnu=h}n
FPHQBjy<>e6!pC(!5_=N$KHe3Wf}bXDbC|z;0@`U0l#y1s^wJwY{Q^pzf%JAPt`$ugZ*!Luy56#qaH^gPmLD
%JbWJzj|uYaDsZ!X<7b}#1D#8QxB
""", """
c-rG&U|<jj;wwxHU?2eH=W{~%5<qN-B(DI(ra=4#Dz5>==0KbRmH)v6(f>vs!Z%=s@cH>5`~Y-5D+7ZfknVu
$?||~pLHPlksPYpyQRM-!%?#N
"""),
    'struct_ops/stopping': Packed(82, (6, 8, 37, 39, 49, 75, 95, 97), (), ((70, 'scx_bpf_task_set_dsq_vtime'), (85, 'scx_bpf_get_idle_cpumask'), (88, 'bpf_cpumask_empty'), (91, 'scx_bpf_put_idle_cpumask'), (106, 'scx_bpf_task_set_slice')), """
c-n1Ju}T9$5Z&D*CKpgIF?XCcNo+*02v+H0I_(scU=_{?Y9&aTBaIOR(`g~vT3HDe!rASIT;pe?J7@Qe$Q{|
{@n&}By_wy}7xsi#K>Y$7l!Zto@iF*TQHTe^pd>OUsAT!-J}^29fVcBygK<HKbHi&Wm~6~bo1X?NR{wIx#{G
(fpAq<gXpivN0mf8rZd|`YXG}hqjPD5ig6<WJk7xFAI=48SfqPETVwvVJ8O`x`s!Qo4RCh?csd#P@>nxgE<m
Pr+&uQ7pSYlq!!94nj_q)w~9proK+)w8E^|@c8W%tuO08btT`eO_+=_9Y(oOfN7;oc|u9Pxfg$6WZRv#&b)Q
S4`zb;B-va9)SNdl!3(-tc~&+~oTm>{qrH&J)%fcwdEq^$q(`{9f!gs&#GUa0-4R*D|`=5t)7d#Ya{6$;U(X
>B}ng%FxUE3si3Z>@T_dmV0L33jZ!?|JZoRcKP2+tg^aa+=suR_yvBjX*m
""", """
c-rG&U|<jj;wwxHU=RW2zmbRVJD_|cB?x~88ef75!sq9M@I9dXR22vx06XLbo&
"""),
    'struct_ops/enable': Packed(92, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<a~h2;~cMpzy1ue*6c~`xim@>`V*{KmPy!FTu!w0$PC>B(xn!*aK-%1}3n0B2-;CR9qcM8vtn
uCRF|WLQwmaIKVRd6QSk`FfahE`@aRMZYq=p0AxuP69
""", """
c-rG&U|<jj;(Sg9Fc1J@Lm<Aw1mQ~nu_+M0fyyfYu{jW@K;;2;G6Sv
"""),
    'struct_ops/runnable': Packed(94, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawy=nqM82t9KY61cE@Zd;ek>65`X-x>Eu{EZbBoDD%okz$6B)-CdO~BU>e26GqaouLWolj*Cn=Bl|?9R?
NH*4DDmuWu;ZuxP*v$N7NF22DV5m9NaO%(;}!+pG!5DscI@HiKpnZYNG!h7CNvHryK7v1s>=~1XNw`=%mqBq
X<c!PX><o)T8%sqwv0(_$DxF<fVKGDWuuD5wNJ{NP`|K0I>$=734&`(rhdH;1(9PDK=6YlaC2YQ;zT<(jjn0
~=0p_V_tQgs?SyjGZ7?W-A6&}$Z#>Ob$3EBseNFrJF;S@x^*%%$M@I?(O%=}NxNKA)1_8CN=ue1C-Z=#Itr2
|>Dd;P17FTzuQmC@34qyTwb7xy<<#`~&YwP+9
""", """
c-rG&U|<jj;(Sg9Fc1J@Lm<Aw1mQ~nu_+M0fyyfYu{jW@K;;2;G6Sv
"""),
    'struct_ops/quiescent': Packed(96, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?f)e<8z?!tEGPY2hsZ%LHO)U3=BX1|Nk$+$bbS`ffyvT9Vl-Pq(vE+z~YGziXj{-t`4LPfHb;
(31(D2zcSQ4MiO8XM44D1_5;;{L_qd{jA)0Ne;cYELtOC&nBD?4cPf+y09E@H^8
""", """
c-rG&U|<jj;(Sg9Fc1J@Lm<Aw1mQ~nu_+M0fyyfYu{jW@K;;2;G6Sv
"""),
    'struct_ops/update_idle': Packed(98, (6,), (), ((16, 'scx_bpf_kick_cpu'),), """
c-pHJ;$Q#)Q6_#cT`35r81@T6=yE0o24)}~4x}xBv;;E)3gB0U(3M6Oj9`7j5PmpNojs7QH-hqk`WeCYFoF5
oq5M_>28RDYumx(~R45Gq6jcp&
""", ""),
    'struct_ops/cpu_online': Packed(100, (), (), (), CODE_12, ""),
    'struct_ops/cpu_offline': Packed(102, (), (), (), CODE_12, ""),
    'struct_ops/cgroup_exit': Packed(104, (12, 47), ((19, 'ends'), (39, 'places'), (54, 'places')), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_CocT)A0!{f$Ol%p1*i^)7?PzR;u28vVIWa
i0!)W7bAah&Aqao}BB(t~5PKvTQT1(ShS<9uNH9U|Zvydw>Ody(i($I=1Ju17NdAJkdpp$p%EceR?&KGS>R$
%c&jxYF{zM2LW)4h0y8HGgA<PF!i8Am){0mj5#>mEC2c*@3d;=`u!Y>5%Cscj4&<{pp!Ubd>Gst~V{!}Op02
O~b$p
""", """
c-muNU|=u>;uIzZFgO6^zu|=Ne*m#Lk~{!oHv}6
"""),
    'struct_ops.s/init': Packed(106, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(110, (8, 29), ((41, 'ends'),), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaTzdwJ5V17vbn;z&E-H
cw-RbjwYUP@908DiG5q>r_Q1_q3^7N75!Ia_eHuU-q^|+0z8J&@ii4CUOF{G{7D<5BhcR(5K>P*a?_UHphY4
aoy7}9gA>p(gNH9UoZ-Sc7gk;VZsQRf;8UX9(IBf
""", """
c-muNU|`4x;uIzZFi3#%-*7_sE1>*4j1WEmXy62n
"""),
}
