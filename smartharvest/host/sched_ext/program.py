# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
e36d740766a3a43380e36e2929119d8d0e6f4edcc5feb3ffcd7d7848e579fccb.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 69056
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNyOKcp;bw!G{74OH3#0LDyIxR1j=^hS8Bt^;_Ql!kKX4ixyQcF_Nt`(-YXQqa1Pfz!#yGJB#*;yL~oJB6
a7`Yhn%^L(rU|)RoB01%-mjnTfAVAJRE<PB@!I!*OpRTIz>LF=+q?xIy&#U)dy?-@-{J&G=vxL8*=lJ`lD@4
AgufWF?Z%@s@hg19{SJ(u2&xko6Gv^gBKCarv8uF5wa}_>5$J<x`06xAXU}67PG+2NhSrGG{hmSwA><R4|Y`
>v!CwB#Y2<s8NKLPLe;QbihpM>{^YL6MB?e|g*?q84-;O9$XuTNR_vcdc`d<-r00j@7h3%vda-rwVW&woY%c
|o3);8k&USH(B-E#O37o!0jJJbZ*xY~Bp+H=a^7d<QoX{QLeCrxEA;4YdClzTbuS-$DCjf!hbr{u9Bof0z<{
hwp!a_ciRF;_%`B3=;keXgnwO`WKGd)U<K@WcrJ${mJjb$G?g7NY{T)Df)gj#n1P%0&fWy0X`>aK*A+oUli^
4w7vdRYrld#<cyk{;(VMbpIP}_R;Ky6ybA4)rj-o*5*n^pgM4WS9R6!s(ef*3d&GE6&%ww4O)Gv$T8Nl0;Xi
+cpAEkL5ZcX>Zp@=xTv2<ydPVU~yk2<OB9m7HefU~ba&3HLa|!wTqJlsFVg<gzvy~D|gfU$+msICk$8Gq}Xy
czN=|lNjU-z*~th243*7Wh^bLNp6eVrs{AAOq3*_Jkb-uhS0!Q+)0dh77LdI@}g^hJ*E{hINAeua<kUJ{=&o
S%Cf&VJ4KUpM&p!<z9=&GGR^HRC5uKK@S4_+QNP@y9je%h&n%Va@or#JFEG{;y&@s2TswA|LNs<nU@q&L;8k
$r6Wi1nu{il;8YYXn$R-`4O}S!p{6;iTf>F|Buif2_Nt?4(H>{)-UmOAMx+25q$i|lHu#5OP-E3o1ehPe=Zq
zxR{red~hO&nkmt^vCMq=%!e;bksWB~V(`zQJr;O>4caF{`GaN7uMZ(WITCFQ44y#y6mf<2iEKkq@>jAA#`%
3{e*@c~DL;VrGi(EMez>gc^#{x9Jbt>Ye9|wLIj?_!d|Fnv9{DbP*uO8Ee1B^CFoO@+|I1~D`pj$4{vU1MUu
*lK+)H2h8%aAdcty+yj=w0{UxD^#MEkudbKk3CU;O?&%mMbzER_6BpzYgOQTzT{+gIX)`%X=(ef7Q0#9jzz1
>nFj%pjbt6}8v)irQ;e+v{LO?d5AUh8m4eH5#AE`OyCE3O{Sj0Wy5PDTQs?8rxmC{rB8Ceu905aZY@Hb8m0+
9e;oOYi<AFod<2-Cu116x$Ng;9B1KCOnXk0#7C_A#**HR0P?dDCBxv<r*WQ!G$R9gMxF-In37QxbfJUBz03r
~;dS#<lF^8EbH6(plPpii&`d_zb*;B`9s0v=-s+6{tuCVMy#C+~|H0nwo35JHbogo~53+$T+70~CbOhE;6l8
hRk+eDeC^*VI=bOZVS0_m#C(Qh?7g1;3=?76p*Vsr(^KlwGS@+Zj41Bev-|I&%-+@DB0GrON0OPF@$uA8lk{
_ou==ovXPY7E<Mq!T(!=p6F!zA{5VHR{E+9R+<=8y6eSVUlVcpuZA&p;ie$#{el6j!t3B+bPfIEXMmBiVT9(
^J~@(=l`msT@7c<%|;=9v#D~DC|<w%bxg8**yPs;0Cc%42St-OyO*`(~@1r*@(_b2U9(Yh1D<XOvh>S8)d@h
H@aEY>WcOtp5F+2YeZ*EmJvSeXX8$GmchP3PDLLhOq;#13jat%pVEj7V)(fT5}d~U%#V{E5Y@vO46AMuXSu>
U?17|&JwNF)G4R$(lbFyo261u{!$f4|Fc|q!k_-SbVCvAF<qCo_(-X_XzT-yWfJSF7Tj_bMyMV`50JuCDP@n
y9VXZUkyt%jg@PU7SbN?;}B!OKMd;)A|XPs-lpPj{BAN14jCc{yXQa^}$es&U!+}UDk(^&w$>3LE;<V#FoVg
g8H$FRQFVn5ex6S;uF%scHjHXq(Q@E^6e-~8$UpW9DT$1Mm8Vb;PLeBE;Pzv}NF>}_uy_>8E1XWm(ak-0gE4
$>w0IUe=kY^(f)5B96cL~>`h{r2|$fk6;L;q0_;=@}FWS{Y&4W47+F#YA91k$%a;#+N)$zVx;f82vz<RXa;;
LdkSl9Sw};X%e+qw;yMGjZnkv*ypyDYl73@U+d1Sg;)cl!!_d^x(SF;Kco>_moUpSS66xlrHK~QQ!FhcqfW<
RdW%n5L!A^VC=7#GeOoqGtpZjSLf!y<<$LH_i<E%f?obd)>N0_D%JmE@F7or7zd*;r>dn;~g=#X^ORbO;owf
>-YPb?tEb!bUMvzH<Oj8epaKUOp!0;A8HRsX7{#j@1!9z{y<qmSO*KnUE5jYm`Y6YGRPo6Kjn8zlZ!&ZhyL2
;!dNCQeo{wSq%ILawADQv#fD~`K3eSka!w4Da~TrYg+5zU#0^u+{M90HDoIZgc-JXcIl+*xRJXqqu|q*UP1?
%th!vF79$X>(mZQ>dN><TNj!c!u_u^oAWm2J2%Qq>sZxV9B>TA>bLiVG}9QRJL?LXt^|w3ruDmL{mGPVylxR
)yxLsJ4%xd_1V#)>!Fc5i<3ZS!f#M;FZjc2IxgS13nv1H$e23kyyi5V(5oIlmoV22oxfxvblthR>@l<EY-~6
;;Oo{cfXEL2<_#-#I=1+Qo^HrPD$jZ5OqQ*P22aEI2v}+0hH%tg8KrRxU0LkRtvjF&nJW$g*w1!`@5%dgg1m
bSyLct2ERw4LWt<d}gW%^mWyq367+yGCDZL)vyQfWugBDmVoZcwCV5SG>;YxT*wX-Y$wROv$$5t-%&3^?Z6(
#3O8@OiC{0D0g<jPH(hV>}uX>z9YLpTSarK534ONX^VP6iHQU}(Wa1B0`bfw{(hdp2i=accx{&yzH8U<o)k;
G!}T`}a1t?)p3X2G5j<XP}#mAp^9~%qYc~3(UXGO&T~A{ypbt7;8416AH415mSVgyy$hgOy6=&f*8%@ZHITP
iVn|=(HNUM^el;c?kqxN25*>T;sikNc#gwNEod%S57Xkx{G~fiQwZ*b9YmT$5A&_A=d7=5<^lWGNS#?Gy0nm
F6hJ^v$~Kx*>@Beg8L5*haHKa1QNT!TYj>~h@3lAYh}^208G!-QNJUq?Ji+$_QIwoe)HEA(nPk=5zs@*2Gu(
o-gaR-#hQeAI26EO2AFHo#U(|kH%oTBD(HP?4Bhs_Z#Vn^Oi>%jE7V4R1A=j+kOZM(%d-rSh?!}w-{u@h%-X
Y7goEyA(WiuB&ujFJq6sBtSdY)N+6*lv6F#o)9zWpx%^2Q_&P=Gwo1(aawOMeS5z}H^H4aipqcnRCzT*epzw
m*jW7}?8Zz}SaP)$^qLn{WGI)Azx)v9VPiLYW(&Kn3=7<<wGlJs3BKaYoZzsOkRJ+y0&XxBPp%TbuX%-5rQN
g1pItaZz{?=!*QdPk{oK*(NCurn1Mb>4-cQ5*;=j#vUUW(%3|!jB>pIl`=CzMz589IMsBfiXxs62)aauD(Db
thfWT2kS^;1)Q}DBowxi)n|Ip}A7D7^TyHo5k_3(=gUB$+z{_A_eR7;Y*MMeD<2tEgLFy1IS(YNk<#n;biih
1nVa8pan@Cd%zRTj?oDK9@#CF;P1cq>M9zW~5+u*ym@7!y9$~_r-lJa5#-eH7ds~4t<KBF=vdsStywt$F*Jt
?S_q#4Df!Lu_Xp(+x9BIMD|5@yVApqunZLD=)`GMkM%ZYc-X)>X6dmXMqha1pB+ohtEQ$(^3NO^!y86<TOy1
SiS}nPG}NapinO&^u8ht#u7>fUvHrs=Auk-JNg%06>%<ghi`x9o{ZayU^Wwe9h%DQ(m08e5z<G-WlP{MN2hh
Z?0AUo;`E0KF|DR2zzSvEoR@!23{1JuxO~lX1xF?43=lY(G5$S`m6}tb3+ld7E@)hL<gwOvLB{aY$hb|rJAJ
R2M1(PmXd`k2-HiORRXm_pxn;_O=rO{c}o2}@uQ?0M4Yao3{lqUb?y%gzYAGSqg31iEpg4#*6mWMt6UDNvjl
uP9FHu~*^7pCt~KcOikk5x3shfKm>i%MWv0hLUY2VX&ecH=`Z@E=Ayx=+r&UK56I^$x>h4)tgm3UI<?-u}(O
NCGBxFYk&HMxl!pwStD&aS;4eCDq0OZnt>tXw0`_3A%DiEnfhE*aL3e6E)D%Qw_+^<23$4=GdS5}h`ypU%K6
M8kqp`J^8SxwQ6nZp2Wx+|+w5J9n2$}Ls;wA0Z8Ulw)&ggKcM@Ke7nPM;q+i=xdMDHERn0))6*aedb?q@(j2
h2$YK>ZB}Yv3s?GV1~dJh?q_$Cv_GGhMLw@bG66iY4HW*jj3B!pr$A?^NDtp7A9zUHyOvk)TVI|lXXN@8HAf
-f?$_ML%IR0_z6kJaSZ9N9?i)vBbXDN_1BE1S{9;L)Qit8tYe5hqUmuk%HY^whvP8Asv-u~zeQYlSdnDQjgM
xp4cAb*YrJG|puw|T=I~MO7%HA=T}S42*^{j5F=YYAQ(&_&?rK*fv{k;F#yg%B&5Ttd4s{9Bv|X@hKDv5qGv
P{xAzY&}N^DUCApYzoL&&E_Xv*J}NyNKS3=|8kYNe{3EI7VEz%63)Tj!=tMb(ibtYuIS_S)_H4-RbU>;+1W5
}XX@H=G4#@PP~dNf73)VEW~*V3hQ8%`Iy57b#Xvyk<ExD;DQmeW69mT8IP|6@fT`Pi@E|Qs8Qx?;=-5?C9B3
A>{mXbSo7Fw$iiY#(6RtmCR((XFe(;dM7=P!D1H4k>A;F+OoJbh$mSA@bt=Dtg*;u(S}6j@>pIKvqF2R%YHX
}kzlqQ9s~BCM6sM;o4NHw=l}*x0|z&0dP!0%t4h2@-31Kp@9yK}$M#lxAB1S)V*n)pc&~WGD&=@gw>ZGt><7
>H&5~B(!V8lsidq(93!*HcTe2C>XFZiK)Dn``YYHB}d?)o7Fp*gz6AbI3-LRJBRM@8V3zpDzBXCaH|Myk-FZ
cvgy}AIq53<8984HUdVr99|t9yi?AugM(h)$~BV0l5MR#;~!;hf|CI{%s+P0i6B2O#L62ViW+Q4cIuaOMnyb
b#V>{o+q1@ROIfWe7V?SgjNSxIRo|g;Ll~^WZhv5*KW}u6fZb$;k;qy$@h4vAS}~G{b!Uj`frtzr()s!(wsV
rAYDe4<j93&^T10GoVOZ?3F6FRhmTS`9$$@Ah#Pb&jujvx3>?rci!|^O-m3=<6aBo>j=z>G&<#+ql$>^z1+i
%7CQr~&WyHEQ=0$%KfG1s4Rud(U7PH&3VIhA^Xlq>jGSsHE~9WZyhfgkLz;DIoa>BMod&0i?#r{9RYOet6=w
F5yM^4f^DFeFP?E0_k0qi9(#h1j4MMen(!B(~+V81|tei%u*s@Y-VQV{QzPuNnd`;0RGCJ#19{dr8b%#IlAf
DQRz#uJ^Kc(4~{?+VbF1?aNR16^_y%g@E1<y|sh!<iJj-vt3kExRdAYc%QW=X7j2(jyi?&%F|=0TnTC}#5!%
`$Wh`~=YXU@uaKy?FxO1VQ6t&`BJHv2m<guW_oX-#An}C^ppZTOo<=Dkwfsg~cCsrl+ByQ+l@vOAQoy)fHxh
e;cx9J~+`8(J*^r+ViaOIj`<2KhfT~1BSQqP@!ggwaR+YE3z$h1(QO^(i!*tWSo!2kX7Oz7Bn63#1MOnu%!I
V9OAzBy8p)R-d0=Qo0c9G2&)f=NE!z*dkotCWVfu$T;j>@Yph$TMdM=6ADb4vVY>kgOOF&HLOnpm_GmQw%LG
GITG@5hV@L`1R85K`pQfpHA>0M!gRQ{ZW28F2sNLJDA(F%u8RfrWDmM6EMGV5YN7&CUK7h~FnhdieHIGeUx8
dN@{hi&NHj#g_!vC@a7-kY9wl2io*wSg>XK~T1#1QwX2nWsu(SRXYhEod=<C+BpMIL6hOXs8sHVB*(o;TsaQ
S^+ucJU>JQdCB~W}W64%8U0Bu-8!<41EknV*HzwA^;J8UBROj{A(Y=T_WK*SrH5q=7xyKZ%7fV6E4{7FJ3gT
5}*u!h#BE)GjU6XH(?T^gJ5{bVjV2vX*AA0!@sc!qKNjuJ$45IP5A2Pq!e5c6|NGa&P!OOg8!WpLB~l{(UcV
4l;|Zv!X73h%zqP18VP4UX?3!Uv<BJP5WYZtGa@-HAC>!m$*6Sp
"""
CODE_11 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 99, 137, 165, 229, 231, 310, 338, 443), ((9, 'places'), (46, 'places'), (61, 'places')), ((112, 'scx_bpf_get_idle_cpumask'), (120, 'bpf_iter_num_new'), (122, 'bpf_iter_num_next'), (219, 'bpf_iter_num_next'), (224, 'bpf_iter_num_destroy'), (226, 'scx_bpf_put_idle_cpumask'), (283, 'scx_bpf_get_idle_cpumask'), (290, 'bpf_iter_num_new'), (292, 'bpf_iter_num_next'), (412, 'bpf_iter_num_next'), (417, 'bpf_iter_num_destroy'), (419, 'scx_bpf_put_idle_cpumask'), (436, 'scx_bpf_dsq_insert'), (504, 'scx_bpf_dsq_insert_vtime'), (509, 'scx_bpf_pick_idle_cpu'), (513, 'scx_bpf_kick_cpu')), """
c-rk(O>7%Q6rS0v|Eg4WQ|y{Z5KL(kIMBweBE*580s{5oOWX)9+m(Y%dmvB+MT0LyqHqBT5Czl|j*F8@72>c
`da$&)6!n;+Q7<`g@QqeNs5i4S?;Cq(?M=d+k*w!8^X9!bZ{GXftSB%w#FJ^F?n^|EVg6X!;2YDA`;z(_#HT
FA9{2nGB4@_99{l7~p3y>romX@la-v0gik7)g>f7Q{KBM?cc1~$1PMC7yT$l9Oj4eyQF3gdCW%9T41cTj4l7
Ei)s-2{L(DR_o*rR}Yw)Xdt@=Nlx|E~f6D*QVuDJS_V|GO{eYZo7mjf>v`ANc=pOq{l1SH??*!rdS}d6rY_r
>!J=C7`pg8{MBRK@Z~CC~fioazCC$=gKou;6l$L=A-+>aiX15kV}x<HsVp>6Gk4nIl7Na$ODhjea$AupQmU?
&bNqj*}F<oym?pAne*`H@>xaw1o1O(5xtin#Xj`8??cafJ9JM=#4n{7>j$F#N5t1<%%mTQh#%lZb?<1nF7o_
qWvGz&ij)4kN`K?x&qQC|BKpE_L~njW^y*KFUJtH0xSoFFNSFL-<KB{#FCLj;zDv}@{dhr`)1m!(UGrWN=ly
gK`Q*?(=o3wf!y>2qYfSGdzVk7yuLko{MQ!>%<v;Y*uJ*`J$kjRG6{+Lw6ylD3OG%RRuV7zL-ZE3N-@%{R-q
A2VXq@TbT+5u~MT_E;MIQQ1#EVm&%lM>`-_k|5N&epf&dKtZ@mUS%jEV!Ddj;#8Sa<61zug;)Qv<(Cb3BY^m
3hoR+f%fHIBZ(bi?}(n@c$aoHH!^!t{M!5Rl#t|$m@u_tdn!WkpCrhE<jI;aKw2Ve(HTwrk#P_(x@M@WU}DJ
CgqQhcsp-Ej>FFDu!D1JxwQ%C0Wa%38w@2I3<v%=p>-Y%`CrmASU+=o=$Ay4$+@9^#V?HJfvg){2UT{vZ{%%
^oM?89derf#TgdMyPDT1r_9Wu9&{cU{NFE{n#NGgJC4|hRU_YRref~7_p!Z&i{^)!c8-yd1C0!51i#FkgxJ@
`Bnl%3_9PAYJe!?5kBK#4z2#?$*#o@#Ce+GU@*M0aU>rZw}zlL+|Q)gDF&OG4%Q+41x&UNJ%s*5;(bbh^<|8
rnpcD`(3|N7ScY5Sr{b{f;&2(IGZx1c9Y_wKJBfT!ybJmu7&Yq$r^H-L|M_6Zv|KZ>(EF*v(x=+$-(jk6ixY
z8>{Ble|$v$~$=VsQ2c;A}F2v$ezFtZ4NNdC?}lQ9B3e8F}Amy!-<14&biaqIlf_j@iK1RSUS@qByUV&G%+S
*Xb1Dw&ph{fX@qhy=U}Y2X&a|?~cV&jq`rV#K%f$6o2g)`E-nYE=K;D7<nGXb<BThndgx4S9v~l$o>=2C*_R
(Q;zh7dGmc5J-^P|xV{kA50*1jFN1#YJo4-2{r&MBI8$Xe4(J0t13yOaHWtUoep^2DEs3*Kznv3g=QMvuy)!
%4hUW{7ox%Mg-~8`Q{Ly%!abz3!wSs-CDT<4(_qaNGQ2Kzsrg{-Q81l(K`eD0k!10PZdT&-t9@;T^m=4RI9Q
N&8sP6pvNIuX1pU*09zQubReIUVZ8TaJhF!Mv=zWN@`r11TfGrkM8-0zGYE*(DnZsg%UhkSv0_Ai1RZ5I
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=8
{fCIvB<%94iK>5d^{2TnJd;nNB3j+
"""),
    'struct_ops/dispatch': Packed(68, (6, 8, 54, 83, 150, 152, 181, 210, 216, 225, 242, 244, 258, 260, 264, 298, 305, 307, 335, 346, 356, 378, 380, 385, 413, 415, 433, 435, 453, 455, 505, 507, 526, 540, 542, 554, 556, 575, 577, 595, 597, 615, 654, 658, 677, 692), (), ((29, 'scx_bpf_get_idle_cpumask'), (37, 'bpf_iter_num_new'), (39, 'bpf_iter_num_next'), (138, 'bpf_iter_num_next'), (142, 'bpf_iter_num_destroy'), (144, 'scx_bpf_put_idle_cpumask'), (200, 'bpf_iter_num_new'), (202, 'bpf_iter_num_next'), (223, 'scx_bpf_dsq_nr_queued'), (232, 'bpf_iter_num_next'), (236, 'bpf_iter_num_destroy'), (253, 'scx_bpf_dsq_move_to_local'), (288, 'bpf_iter_num_destroy'), (290, 'scx_bpf_dsq_move_to_local'), (301, 'scx_bpf_task_set_slice'), (321, 'bpf_iter_num_new'), (323, 'bpf_iter_num_next'), (354, 'scx_bpf_dsq_nr_queued'), (365, 'bpf_iter_num_next'), (369, 'bpf_iter_num_destroy'), (374, 'scx_bpf_dsq_move_to_local'), (700, 'scx_bpf_dsq_reenq'), (704, 'bpf_iter_num_destroy'), (709, 'bpf_iter_num_new'), (712, 'bpf_iter_num_next'), (717, 'scx_bpf_dsq_move_to_local'), (722, 'bpf_iter_num_destroy'), (727, 'bpf_iter_num_destroy')), """
c-pmCO-x)>6u$Sp`GFQP?a&7!F~y;ksok_<ZM4x)!NeG&_)|KGo5_?C)D0QZ6rZzD8kM+{`WseKOreR<E=bU
1l3`<QVq#d5;DUvVE?pT`#e47h?!0&Jn|aV!U(#Og-?`_Ud%o|SJARg_uX=KQSGM&hs9$VnY?q7vm(-t3FqR
f=&Sl1zbIg8bm|FjE8_DhcndClB<LM-0cRR&=UjEOR$7!8^d|ma6;+!GT7DRhm${V45bDY|(uG{LbHT0_<+P
7EKIevay$?4{w<NVud{F6h%9`RKVY?3}J&_^8qw-{edQ@=h-?JDeA7527;_Un1wUrkZpW0z<><oJv5C;VG<$
gb+i4K;p6=r6a9_uf@~Eoc0_ZPg$D;2!OthyOYJZ~Gha%h+E`(YpG#u;*Ru7xyWzE^{6F74CH!e(c>*=he#8
zsza9zeN7ZbV1%C{3hmir2P*3BmPyS9*bnp58bpbks?1`5pAFH3)w$~`DM(PCSk`-vOi)c^savf{qrZ3=Kd1
tJ^CcZ`|qiC6n<HDAiqNWQUP+Nshtt?9C1A+J~<}a(jd+ES?hBmE}s&g{9Cpq#QThJx>ULJ67<#kvgSDrx%s
Fb3Aqpb@-prpelGzBGaTo<fOBBCUN_@H4*EH<J|jN0R(vJsQwq&<@yWksdkXWXx&pnP5p72ykgxh@qwyedq;
WCEZtlj-`-__fF8xK~34ev~I>rgub=>=;gZSqb|5$vKIfghG+$0`wI>2uxuKb>D!m;?5l=lJLrbYYF$4A*J&
iOUXfoIy^0sPl;<~{ugf~w8Y_#ambDuSyE-_dzX#0Rx!Y5qz(;lH{-axb)#eYNYFk4dhy+ihZZ2JusLiC5MT
U)6JT&J^Oz?;@O(;1|zz8}}h+G(NV3yw|0_mjgfSfZxu`@k*2z&xd)jV)CNL-XuE~=$_Zw;IH-|zev67-%!7
hCccl@S<(4qg;Tyzq09zSDYd`#ddd@hxUUJ3XOy1vrk;1i?ejP}Ig(TRx;g&^@&4Ct+`NB_{4kIjRC?FIclG
ySe_M0=b16%&PxZZSQhNz@;(jMwPI)d*^Y*=Tv*$@aAy@A7mnc3b-4^(=c^Gk3ou+&pnZE}8j%`q$7W0=?+>
zjVBQ9aLOY=h-w>Kz{SFvvEtR6S<pyS`qzC&^09BkAD_ocsqw<+*rlD)>`?nmw$3i;_G`$?@|WrQouPr6<yX
CG7T1>mmRNjCMD-*43mdVCS~AkWIY66^P@_ABgli%k1h+50{09oF_z0T8Zpc0%<_OB~PIIQGd8oYsx^ZZz;L
C#Dd;K^;N)zYIPtrh)UTxbIX8oR@8!_Zaoqhlt}Mr*p?R1yC9F!~jn>=Yz7z2mTGxPv_qWexNCT-4STu`;e#
Ytzp0RPivm|Gj=|(=T)wFqKCD>@yn=xEc{w=6VV@ds8$HSd-CoP;21dd62S3@8Q%rqd`RPa2{;C>xANq#Bzu
wczD0R2(N6cN^ItgME1Vx^jW}04IzsV3=03-4IZjy47m(w&z*o|;_i5<;mX?1yBHxXXpE-m54gF3;_9q^yev
d}vCm%?^Ba!{7hpJy&M83Sg{p#nryHuwlo;(L}hj`L?WDfDJ>zlL-9vigk`-D~BgC}*~l(-4k^>ye|Iv&)$P
Usx{E)AcP2<1mvml}0<Xxyl`F@72TZ`9j(hwHlILW<tw7ujJtw`{!&)7Jg8S@(l_RoA=z>_#Wm*={30$dM}c
)xih;v{`TV9YS5qerLLF9RmNWe1Q6@HjX;iCA%7N)S{lyc}>4dJhx7IiS=?uzi*atzguG88^-!yn)}7s<Gs*
j<*%-d#=Dp+U(K^vz6!n1-TnMNk`2yNeAW-VIOpQ|%;v?$J4f#yjOQzBe?(6U-<o&*VJ&|kp3nBw?`S+<{b&
8M@qD(Yeh1?DY7hNvd7eWBehIkoI5&O|sOQb!we-6@jXbC4XLyU>Cy>YcvO%6V`0JSY&X>I6gwD~p3!jq+;a
tY8!C#?qgTL|?e{t~FBhC5C=B2%OEYoB0R)z2>->34gF-`!hrY+vO){3{z{Lj2~;sJT9-{ha3fFF31bGNeV&
FZ@K(Qeb9YmQkjCYcxeer@)<UeotMi~SxuNcA`m?o+;yenT6)t2o{#|HRh8`knL@i+^_~*(>+u_`j$3CLs
""", """
c-phzWMGhDU|={V%>V`f3_Jln
"""),
    'struct_ops/running': Packed(78, (19, 37, 39, 45, 78, 108, 136, 215, 217, 255, 285, 315, 394, 399, 433), ((9, 'places'), (425, 'places'), (440, 'places')), ((88, 'scx_bpf_get_idle_cpumask'), (96, 'bpf_iter_num_new'), (98, 'bpf_iter_num_next'), (192, 'bpf_iter_num_next'), (199, 'bpf_iter_num_destroy'), (201, 'scx_bpf_put_idle_cpumask'), (210, 'scx_bpf_kick_cpu'), (240, 'bpf_iter_num_new'), (242, 'bpf_iter_num_next'), (279, 'bpf_iter_num_next'), (284, 'bpf_iter_num_destroy'), (290, 'scx_bpf_get_idle_cpumask'), (296, 'bpf_iter_num_new'), (300, 'bpf_iter_num_next'), (385, 'scx_bpf_kick_cpu'), (388, 'bpf_iter_num_destroy'), (390, 'scx_bpf_put_idle_cpumask')), """
c-oa$PiP!f7=JT6o7t3vO}gE56?9#zYi~``AU#=I!Gj*sYS$_V!#0sfFCiK&<3cfFED9c4u!twqK(m6B3JaU
V%Jd@S*kd46f~UQif`^_Q-}k=Xo0&J+N$P{;+xOo0zW4q4ecw0FpAc#^7nu6ZGfc-ZA1@g5*0WDSqQM=WyS5
Nd!Z55@!WgUaM@zwHJinY5B9sed;VaH2_%BI%miXS``GS<^N?OU8@`@*z21g;!=5wvm{ZXag%mYQAJ7%+9^8
BV;$qR?|pW0IUt<vVG-lvta#r$39(<<SfccD)X`lRfuI4S*R;IFv~%b97bdtQ;^Cl9d4zcR^mW>eizeTmmUa
&khtHB@$3F<%SkdKZ{3%ij>`n~U|Ozg?UC-*uSooco#Yor2$8_TS<suorT7ruyP_(x>#X(#OMkIrlyLRj$&G
=HHN)k)AtJ?nQ(D2Ftw&y)5|APWb`xjQoG}A;+_}tLTJv9k_eIxcdNnN4C{`b&T(C9ogdjHgG9nyC>H>L$Gg
!X$SXrq~3+ZdA+aaodWLp;-QjT79a9C$kY3C-|edXxvPD?|K`)#+jN0rm-&Jpp{I}Y!yL!rE#RcyA2s}hJnS
v;eBNSyf1UkM)Hq%fQQRm`$^HWJlaBgp?8je^GoRzK{mYV8)jr$5i2V)hd!Hi@()K~$;9J<)X8-uLlS*@co%
Nmt4*eJViq66>8#d%OdG6IA?+Vjvz%}JlLk?Oa>P_>0HN{VPdRh+pPt-dPIWmr<y7wmZuAB8m-xJBL?bm}!K
oRriUBn-L_uc@Xg?r8kBmXqtwH)MNPIaazhvJpPgFaqj-;#s=6Fr6fQ>9ohs^BB_SiYK{*^dXx4~_SRxXW<@
9$G&kZis)@Ie%@-$ip7u=KsR^dha#^wuij%@37qKl{~M*uT-z>Wc~q9KY;4|iuyyk9%t3pSGT#23=Q-A_-@p
nNP{Z!(3SMdub&qk$o<2G-mqr``uCneyw_NtdpAw{{;U888?ju<yI|>%`m<!#pDyZ5S-fo2$BJv>xl%CkQW-
Y!(X``!>B4`xgZwq!H~InL$3h+%`38Jfr_KK1eH!CX;U4{^sQKz~{yB-f^S%L&Z^!!t+2X|DIu`j2@o9*^!h
`tIc=5;Y1E-Ad-<!V~I1b#w`H~es9j~lBDT_;t8{Jo~avi)};JEZw%sL*xk56C6Ij;`uJG##;;2yoM>#|?tK
I5TI^}f>k=o5&egF3xzbDvnem8##!>$3GI98_0zy$@<;ot&-huft9Te<6c^EQ9}r41OzF-?4rJ{?m4l-xZE*
GY^t=+)8}^RHx$pn9SFxKb%PQhgzyXr0mym%IXhUePO=9--l6OIElEf#C6w7;ywev>H3rxZ->dcr16u+9la0
Q7S&p=zwbF?QU5mb@$@$9BaNM>{5a2wwx&5@ddHYAFGiRj-^mS!6R!(7I})FdDL?VuTNaO%UL8lD|2vwWg?^
K;m-rjjKcRY$ypO)~*51JPPOvVbcgEg;`l7$PDL-x1FZS>qIi~jO){uCO-Uk-m2Zw$ax2^y4?&{!ORTeCG-+
OCS`{TmDME?WpS_t$
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNm0~jItdlex31}NW#9l~FM#s>fnoCOg
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 38, 40, 52, 64, 113, 142, 208, 244, 252, 304, 320, 322, 340, 347, 349, 362), (), ((85, 'scx_bpf_task_set_dsq_vtime'), (90, 'scx_bpf_get_idle_cpumask'), (98, 'bpf_iter_num_new'), (100, 'bpf_iter_num_next'), (197, 'bpf_iter_num_next'), (203, 'bpf_iter_num_destroy'), (205, 'scx_bpf_put_idle_cpumask'), (223, 'bpf_iter_num_new'), (225, 'bpf_iter_num_next'), (233, 'bpf_iter_num_next'), (237, 'bpf_iter_num_destroy'), (358, 'scx_bpf_task_set_slice'), (369, 'scx_bpf_kick_cpu')), """
c-oCtO>7fK6rS0&y-5l<HQ2E@5DcgZCm>Xa8_-@T5(-F(I4&-!f_i93353BC0t&6*1d%EvZXu`+;zt}JIR{J
Tg2XY$2w!sakz;P|%zWS4J8RNrB<uOj&-?k_`({TKg&pNbkd0@MmjWT$QtQ7%pZ0{%Q=*s_&M3O7$nJ+!_pz
c<%R7y%`9e$?z0ikw`QFZ#?;f&xK}f{$2lUGAjkb~XYp^$`e;G4Bux96{_0Ko{7|%q%5T|1C*R(FJoprl^Ml
r5SEh|Ir%Lged18t`jJ6|>V>(RU+#07(gg#DiUgGBz+)wNNZQ22y?1pVlBv(n&vRnSiWKf^y@enjs%YV4;H_
V>{K={0M=CV^|7_%$T!$U2M&te+a>xkcbQEm_ZG{6pL~yK3t*%yZ4u`;I?bpCPO_N?hObK{|SV8FntRfAp$u
A@MfHICG58V|-)ud+#XX;Cka8<ikPWl+O%G>>CBHa+lRBk5}9AeU*VvR&O8-5$Lx2qUTpKuH6-nQa4jy?0nM
iN+0@3Re@jS`G+>@dKu^YXeSflj6PM1>y(J+%HtN|n(g9Z>)<8o!2HWWmyhOe{VL<X$@3ZV;Ai?h+}i2XY40
X@M1NBf`_&TS$?m4TMdGB_H%-1C@zB57SUzvqA1U%<PRrp~o-;!(f5M1&#H}Y!#$ErD`7Q$=RRVw165<~}Mm
q<<-*Mto_2}m*^zbnAS%94PP`9E^dQuNFXJp8J8&2#ud^@g(`EO)MKF;@}f5V>`cXTf2`svs$^~PbSoTc6%?
%|JICqKe7w13RqH}CU2^`hRN)x+-9BV-(5Y+dSM{u_CO>qmBX<2kA2j?u1ttDorY2g93)2a}>|>ye81@CrQG
YJb%C9bRp-@719V+sAeC@ZDK7be;HI`4x66=g=>A3cn!ks_5Lan=yY|@_g3ix%y{~yaw@#{cb;`#W!E&OBbK
uKi4C?B0i{>h(9gPfBk;m=DiTd)sO8neeaxS{nhv2kt*T7i2AP1@BJI{GDUvPdF1&^@|?U-$HCL_u>>F4|9S
bj9p}kk%qLnm_}Dt+w#nC$%e!zP!5`iO*-|e*Q*m6j;LldPnF{d!=<sI5#cRUD`@r10=I{*tPw*X8zs`4z4?
EL7>eN%;F_-tvu~B*2;C!&<@O#q71rd07PpE?~|MUK9i+h#$HgkAiq{TA&i+xj+iT6x09_FXMTep2u$P7Rq+
5m5?O<k9u%e%V|_K6kR{TPt9W!iaxe&0cS>d|{<3B2p@{A{-#@u9xOhqn9z{Lf49@wfYktAp$R<wcyE3s)_^
HTGSzv?{<ypM1o-qUI&u1GMuuWmNZK#`V)Id~$HAWPn@rJvMf|nBBCvW&QmNCX%iW
""", """
c-rG&U|^5}Vm4+5Fo=Nidlex31}J}l3WPraozDc}+pt6UJD~i_Y7jmEA~Ocl
"""),
    'struct_ops/enable': Packed(84, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<<Nl2;~cMpzy1ue*6c~`xim@>`V*{KmPy!FTu!w0$PC>B(xn!*aK-%1}3n0B2-;CR9qcM8vtn
uCRF|WLQwmac7S#4PlTE)z`y{s?*A63x~Wha0C<!Zx&
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/disable': Packed(86, (3,), (), (), """
c-pHJWB`LiAr>$l!o<J;Vo5MEpnybS0Wj@j1mTA<F@fprKnkSvw&Ddae+yLoR45Gq5~l{B
""", """
c-rG&U|^5}Vo_!WFaQ7og#bG
"""),
    'struct_ops/runnable': Packed(88, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawyJ`YK6uoydY65}i;=*EMk!Kl<0jmT8Y0^gR#pEM~t@8=_fW*eqV!<Y0n@<q@h#+iXH<|m;FpEtFmcyA
jbMDzQwgJ3sqo=s#hXK!88%MbK6kdw}HqN;eAy{wzqpbwwpaNaSx$5jhe9|bqM}AWz{Sot_sk1|R5bEsBQv3
|S3*~yal6)P>`_%-Udo21h;R92Zd+M|50IWUcW}A1-xrodCpB=x~eAk31`T-V>_Qy}f-d+|H<vxG0r>D8jrM
{?&(TDgXQ0MattiqkgOO(0gzD{BYdd=b~{^xyil>bUVj7O^L>wbBjJy$$k2D)87Q_9!;%ZJ)K;mUj?_XqMG?
Pv9UoN<Eot?<`M1U|m2d0#roy83SMj4{_a?~1<>bx~&
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/quiescent': Packed(90, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?^7i<8z?!tEGPY2hsZ%LHO)U3=BX1|Nk$+$bbS`ffyvT9Vl-Pq(vE+z~YGziXj{-t`4LPfHb;
(31(D2zcSQ4Mkl~3MVVM2_5;;{L_qd{B-)|o--fEk5Les)rnf-NoeHG^v?CWG
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/update_idle': Packed(92, (6, 40, 68, 136, 167, 169, 214, 246, 285, 388, 396, 449, 465, 484, 492, 545, 561), (), ((14, 'scx_bpf_get_idle_cpumask'), (23, 'bpf_iter_num_new'), (25, 'bpf_iter_num_next'), (124, 'bpf_iter_num_next'), (128, 'bpf_iter_num_destroy'), (130, 'scx_bpf_put_idle_cpumask'), (155, 'bpf_iter_num_new'), (157, 'bpf_iter_num_next'), (201, 'bpf_iter_num_new'), (203, 'bpf_iter_num_next'), (240, 'bpf_iter_num_next'), (245, 'bpf_iter_num_destroy'), (252, 'scx_bpf_kick_cpu'), (256, 'scx_bpf_get_idle_cpumask'), (262, 'bpf_iter_num_new'), (269, 'bpf_iter_num_next'), (354, 'scx_bpf_kick_cpu'), (357, 'bpf_iter_num_destroy'), (359, 'scx_bpf_put_idle_cpumask'), (364, 'bpf_iter_num_next'), (368, 'bpf_iter_num_destroy'), (377, 'bpf_iter_num_new'), (379, 'bpf_iter_num_next'), (472, 'scx_bpf_kick_cpu'), (476, 'bpf_iter_num_next'), (480, 'bpf_iter_num_destroy'), (568, 'scx_bpf_kick_cpu')), """
c-rk(O>7fK6rNc--gTAAAz;fyRb6920+%QTspZtaLyzep7MDs}6GRjajcBdH;tNFu)MHSoDx@A<P>rgz;$X=
=xN<M8a%!udkRmD{edJP!Q<s@}-*|V%Spy0O4vZ8%&(51S@4flH_a?zCQ=@t8mr%<75t^UMFcxw#KTY#BhcQ
>kVu~3fS0Ne9dL)+yuS!|qA91pKPuXqG{ifvA8DUq9<|_j_Z;kf%?~-(dnTKM%lfm~dNOl}ZalRL`qu2Gklc
jl{k>lD<&_aBO_mr^rw({?9^}Qjym8z?A+iI@uG%wv(^VM@h+J7GT;K+w#<pcKX9?tPdulEh&`3n1meVNMK4
fr=dRC()ioICeOo!3KrXE^Bxw<&MA{jk?U-o*MN8NY-4h(GCSy+!eC6-h7cQJxw?mQ-FS{tc|RvF=}|`B;4L
x3`Wsf1tbs<pt$=aGU&IUP4@lhDt6YFKq|*kw<?XaePYhf>`IkSxpT2O-jE?>m^ISm}cy_81lE2{(G<^k}h5
MKY-tQ->iAg$ZmPukF?x}dC(>t^pSV}eduwV^DfRo+*<EK3U)9r3jLfIN>>aY{`j$VE{6Oq<s#M>_eXxcCFJ
yx$iAAN9LIy?k>*8>wZlp4L2F>}vwu<ZhWK0KC4-Mo!hdjRTj9CGDbIO_fZYMUrwiIX)rFr6w9v!%*MP6pTZ
FH(*?-8dHvD%9@0yQ^_2Il(AM)%kvmO+pdME2a?;y<^S*iz9>;c7n#j1ncj61O|zImVOp*zFkb;Pa*L2*ESs
xt*1y{H~u{_^!v-hTIxC&U$ePx+fJ>$*Yn{<jG{ead|Qk-bCy?J?ioQ9VA);`OcQn!GJ$Ox)L<s7|}cdumdi
t5j$Dm53J{^}(nk;B5)K*ZTfv5x*3l!TX%nJBsxz_<S^~j|QLdeQ`a~m;B5f+`V3p^0rCeYitls(z9_F?7OG
rubZD3xbC99>3#JU?v<~r?;3YeKOXK{ACm4lXoEkWoBV0G#G9l#lV>YNf3*AEs9%otz2P(UJ)O@d)v0(rOU3
IK`dCn=zU-r}_fQA6fR8l#S;L`zx^dd-bKqs3KL~g0Ke{jW%Vs}WE|2%Cbb`K@pg)tK|3-p7kM}`*zmB}=IA
p#R4jq$M@qVZJDtJ{|ig*&|`>2mrtUg+{`luDZzMrH%n$$nfc!bMQ|6IU*;{I*EB=^ao(I-2=(@i#+-!*n%;
=1PNS^i)6zdRrO+<U*P6Q1vauh%TTdb-bj{7n75?!t~sdhvI0oJV8z8uuQYpn5&x7v4`j@M`PEWPSz5>AksJ
P2$_1;nU#Q#((0w)8d8HGv1w53&+53uKb*F>{>XUH}kfF|7*H<cWvPO6_@^>>!HszQe<Z>g}!RvbJcvu?o=1
}J2LN;q48d=r3eVF*e`D+sF?5BeCj)O4{hXoN5t`=!rQHo#r!O0%=32&+s1pSnHd=Go-X>d#`zTcI-JbE^hE
wmv1_z{^98~GmA&Hs-<SA*A@KiG0{(w|&iKEh>^%n6nYel
""", ""),
    'struct_ops/cpu_online': Packed(94, (), (), (), CODE_11, ""),
    'struct_ops/cpu_offline': Packed(96, (), (), (), CODE_11, ""),
    'struct_ops/cgroup_exit': Packed(98, (12, 47), ((19, 'ends'), (39, 'places'), (54, 'places')), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_CocT)A0!{f$Ol%p1*i^)7?PzR;u28vVIWa
i08EE5bAah&Aqao}BB(t~5PKvTQT1(ShS<9uNH9U|Zvydw>Ody(i($I=1Ju17NdAJkdpp$p%EceR?&KGS>R$
%c&jxYF{zM2LW)4h0y8HGgA<PF!i8Am){0mj5#>mEC2c*@3d;=`u!Y>5%Cscj4&<aLk!Ubd>Gst~V{!}Op0P
HY3X#
""", """
c-muNU|`S&Vhv^nFgO6^i$eK7fLIqv9socq0;&
"""),
    'struct_ops.s/init': Packed(100, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(104, (8, 29), ((41, 'ends'),), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaS<?oJ5V17vbn;z&E-H
cw-RbjwYUV_908DiG5q>r_Q1_q3^7N75!Ia_eF{Jtq^|+0z8J&@ii4CUOF{G{772jWhcR(5K>P*a?_UHphY4
aoy7}9gA>p(gNH9UoZ-Sc7gk;VZsQRf;8UW81I6V
""", """
c-muNU|`4uVhv^nFi3#%MWOr^P=1v$gbx5mO9M0
"""),
}
