# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
d2188d26e94c7247bd5d175f91425e5c4b9e17646660ff8d98a517a9a23a3a3c.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 73216
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNxOKcp;bww`YmAt!fK33w55~XRwO!sIw97?<LniQ$kO0z3QT2U)fkTwd@+nlc9G^W`-?Cuds@5g&Ef?SN
m7hfGL;DZq$2!fmv*w{mm7zu*JrvO0`AU@^;1o<F`T=HIhx<1`KB;kxSJ;kb5uikt0zE%C5f0-d)ApG+;FYx
cLEfM*deGVQoygf4q52yT-JjVdwJ11a%%7iO%d`7j6Ipn7m%sF_x%-iSA!{dtr7xurd;R5nVSHQgpkFVCO3G
F#-zo}>^cLjZj>oI(vhwsPmeG1>t!uM0P#vIYsLlTEIv;f|hkdOD_`#Jc2o%g-?Gw|Dn2EfkUf%a?A{=ArTd
xrClwB12qfp1gvzXx9*+7|?ELumhkplvk6<?}lHrttkmAxOjz|L2hCkD>7bF+Q_DuiBse20XsO*P27VzQyTe
pHHCu1xwZ!;qkp0E>9f$V-5eOqK&-#xxj;S|4Ot!*6=I}{Bqs<(D)@W_|B}7gM|NO0rQ;L$3C<#iNPVXFADe
=+P`A%-R#f7Bb`+;nF#zP0PLG=&x>EA_xGOX&Dk0~u=n~;pXYo1rH1h@p5x<RR)}7bYh9{Y8$Yf_q6d$E=L0
h{9A@q$nqE53*Srkv@19q({sU-t#2nP2u8`dyaril0=7-Q;vh-#d9)Epa$?;Qd?|-Px{YPkDvF2Wd$3JN>|8
`#SNw^)BdvM8;L({L$`>ZC<3sc~18GZ6OE~D3!GkQtx_o~8e{9^Mu+Vn-m&sQ&+{Mc*Wuy7)dCcT<JfqqiOW
sG|#$jNJvvkga1A$MDzpTETAdADJFW1f${eMWjvoiCig?}ZcOb>S5B|H+p*eUBT)zq!E2-)$KG?_cHPPaDSn
&gJ7f4ddVP__*IRUyKJ0;|nc5-ftNH@G>8#HFk5(@<Y?)^q&Gx1nn2vD!#r9?O5(7wD*N?aiN`x7_bEGO!(-
lZHDJFxX{fupSQ_>&m|a_+eVy~p?h|$#jpc-{6^dGjV0WHm1i6Xrsgaje}9q1{5f)IhWr59&&1%LLHkh9`WM
hXMmoS*{b*6dH1PX>3+=BV47C42w!y#sShm4Q{<Ca@HvSj1KfpE!@_(WI5w=k{9Tiu9wxjmrVn@Z&FLk)jML
D{n{k!n}ikSO5(C&4VU&j5AG5K!C+>awOCL8j>{s#bmUgRu+Mo+BKlXp~XKNfA2)z>9F?8I+M_!(|L=R{ue+
Y%ny-<I&RCOzi_J^1?xz(C$O*R|q@+zX`V4>fvXjUKr!((~zzqDNoreX$ne`F@A%!*4<RFE!qOr1Adu+FC!>
*7{eC_y5p%|DTTHeRfIl{^FA2{pBUDC$C#__)se9Y^`rRb^8q-)OltTB?a;Qn-3q}eAnOF`1PK@{qBRF?~@4
(TzkbY$Rx?5y@ZBNoF;p$`|1_F8xa)8V@mdeBcCQk7SWuH=rMT~#1l%!anOej0}DshFOEo>_=mxWPR67d`@6
+pDen(yDEm4~IiTwoo!#-E(??RBHy*s{KX|zLmRrtjI{-B47fuo6BVV*z_=o4bPaN?Hl4IwCHK*l1OXHx3V(
Lf+otC$d4}*+`o!y}551&Rmt87{{aNJ>#`>faXJfbZ?ieW~B(2tTqO2$!0#%Ub&k4cjG{qZFCgE&qPX-L=~<
02zDC3*jdaP}CYy(|S50YG$u=%V77<dc1$9?`y^O`v0+lKvp~vjYiqR7k)<9PH)fkVbpMg5<C|C1HNxKVy@+
D_2S$<^^~C6gDS~J9|Mvoew@>@>*Qygga|%&ep9vz1x28$+id6UtL*d2w+lPNC{^LPU~PoC)8OJvvb<v^ewJ
u2df0=9Qq&wpgjq8W2B=?`jad}E=X3uf8+(80w@AK=&me_#gJNte{mh)I|eG}vLlAFqGKR%t~*zd<SVcitOr
j;xKvjsC`y{Ot?PjJ)n)_CI*8$pzqS2v<JPwS_RS~$tp|^`5c$;-iX*W$8s)d_mD+|du%6@v1h5J?UeO5a!=
5;;a<=2@-5zTBt<8r$|6%XuZMI_Dk*egamdk)y_~R_yr9R_mM6-m(?!u5}u&Tff>I@bVeT}9A*B<cNj-=qS^
P1CgA`Q6`AhVJ|MseFuXF$$EiKhPZ(R4gR8ix#xW0S1t!@WSFq?MOwb}0a(NDtF21Qd(->p6?gGM~)H7uQ5%
ecf3GsP56L*5}c^d-?=G$QuZI)%pOe2QqX^lvf(TYH{jQU-3LPxjQibmGoq^m}H6LO6B&%+!jt+HvhpS#QEw
qZD;W_NGA#E-L+S6+hKhaa9(hUa!@XMY45I-ug7{gi0|jeN#7q(*mgfiLO;#i1r&Gw)CGM7Ho$(sj<)W4&Jw
Hzs>mq1e%%q{*RFb=vOqyqy%8dia76jg=aB)8&}pH%0Etq2&{Ce7%kM~*;&5^OFo=rWAEX(~!8Z61eR!D0p^
wfthH*5p5xP`=kAl<5UEF5Np|S}{-XM}748gboAI*S!!7RiApP`QWBjmw#<z6xow80ra@$YWjx(mUs*L(ZHH
q4We*Pg3_sGrcox<JbM>!T+QO^={CjVTv2;X{5p&X=@a1F`CF#@cqISB`_cXlp(OLz=Yb-87AzDEFf<M*SNE
aZU~WmvT@``r#lJ-jZWx2;0trKm$Vb-vG3vek!2}(`}tk*<~;(I;U}1<*B>!6`gt!KdpQKf<>Np`l3Bb7T2S
2mFW3Go)bRo=ab$1IEQs1o{K)lm<Byc2nGd+&`BBs6CtVb>=D{d1hzY1vJ)C=#n09#Ne>fY5c|Q{kJEGnM1T
PI-36ZHp`b&}n&W6h<71c2^t{qZGkk0Y3&|tuvp-yz3l{s<!_7wzn9Z85eqP7~s9jia=7pI-j_LQ){V~`hGq
(IN7`qE4Xxr(6vW1?W3F1cpuv`g<5cbUeT&)A-Sr$Ov?!9^Q(Y<Z|ac|?TJKG!<9ZBhn!I!Q%-BtLxt~oKr)
D{atPIURQBnSDD@|=uA*vG0o;lciDGxfW_*?Y3FwQVqjShzUrm-Gyd1h0&-{3)Ba(_t#mRji+Jv+*N0lux}O
6-M7sXQf^wbxO$+TD3LO)w1r=*H)qd<H~9A9~BUEW(|sVFfCg)_M)GHDh(ot1dwb;d6B!ikuywfbUmIDYpES
gHVxn%4#d_I8LDsuV)hN$SgBPqTM>B!Y?iN~TP|_}4sVx&Vp5kWbz9D7RB^Rm<TCa!yS*mz+fw|}G9*VwowB
wta}b#nKtw^5X#rV-2a4D=;~dV8lAJ=~&X5Q%Ei{`E(sl%?++!+U=3UkU8;3!$cmEy#@y)xvM-R{loTZi%V3
dbIo<sJW<}_gjc{ofRjBvTrS|UwUSh=n=VN4y?O47#|W-)rOIL!qjb8+x5p6RA=E))@6%joQI&*Ebl<2P>K>
j9qH6-gN7V@#{{s8seDVM+G3bx!Jo6oyCL3)Pi~;AT;eFe!3Xt_dhTtR7(`z~qVAgTgR`g0w_oQ=9Ei%M>wd
RXHL&mo<$jFjduR1y&u2h533cdtiwkY$aClBGJ=`wUR+2?)`*$W@FXtRz|!j$U0i8E#%1&Eg1EcSuKjxq*6d
*;#v!7*VCS}t_zzB5tKpslxkAkuH?>QH@E@US9_v9+l>lSXR0Z560%~h?R<p5e2${9AJZUfQU|^rK$2kOhT1
;t%{zP1Gnzp71;=ZRj3;qS^@N6D@X+T(g%hUWT#^)wEZwIokZ?kR??@BGAqr(Rj^ixmli&xOQAw0ewb0JCb2
{}@wQhvLpjuO{n(n;CL=Bod&Eig-%{<<Gczer8WXiCEwHqQwgi8J;9fFMM#lMh6rP!Zmb$reF1f!Hi9<(sKq
Ghu@ja>_??i_gd(z*K3p-^}5gCEW5Fl%MdI~{R2A(T#5FJL0z95X+e>|>4PE<j_KW;shq?KDX2*WnOF;<_AE
<X;+=qoPFP8B|)bh-AIa6saZ9)#ug?{%(3ERoNPqoa4b_7J=%6|BldYdj{k#2(d0t#hhL_7(G81d4Xr*(L*}
8F6PQYH-gl|2);6p(GjjzHz)+Evh-L<S38o3vRaDk#cw1}rp!1ZBm1-~4l{GptCFe^v|L`USA$I#(|-Dl`b7
%Kd_RaeU!@Y&$2*<~8R4$fB`e~I+-GqewbUO6Sj>T+L~j!C<IrLlfYXe^(r4<<u;TKexOFY1)6iEFc_}7~2H
`ZVnQJ`pGy-b^nWB|>gBNqny!(cghugV&b-jR<Rva7@RMrpmRgE|02x-BziCR9J&b?jflEEuR=n7rSnX@vn@
#yzdUVEHTx<3XUp9aNFBdTCfFvk{Qy@P019FYZl<hoa?M}rz+nkR17>e~8OD!G;!?m_VOQ!H^Y6GrcYzr51X
tBq~YE&rWIy+^&<t3-DhBpnCfbcpTeNyTN8T31Et{10hljMZq}($WO^${WauJjsWojH#5%Pr;^ZTj?q&0E7*
`xmn_Tnh}j;ZO9@qC}0_i`R?BkTEMryCN#5%5<sPs^r@X;%oqGvx>Pr0q)FQncEn!IR?Rb>8jLUt<~BKI7;4
wfy4)ygEg3fQzH)k7l+GNmo}}(+eY-lV7qOphPrZ&9ItS||2Si@XX$7b3GU`pydGZCU<&(<vruIHgR|gCsW1
0<vF;BINVU#;~(jY>|8N=3&=AMm6V4Z!QF&onGS%*t%H68~lfoM%9=7t?OR^*nK(Um!Sg*K0pzHu3A-yW~Bt
K4qQxlrXms9ks1qa_^G6Qn7}LzS{jQ*@=0qLRX7Aa};-h~JY1)O$v$#8{th3@035h()cF3rWfer#0o}42Q41
oym)IJhrT+>@%-OMDMig0~VxI<^B_zQC;Pj1<5qUfxxLWY?Xzd<vJoNXP@$<6STR~Re!X3nsmobpn!T$l4vJ
-!q&Q{zz%3Yn>e~@;O4nNb(SUD{WM3ByuG=#?Qh-NxYgT&Ksfaz+d_b^0qn8&0&ttIbA&h8A1mw+^K`ZJ=%p
2k^VJ&rgdioc*W|lg&idhN`Thl1&b-3M&yGnm1x#g{UqTsCI`&JGW>w>fXL`a!pnD$+ik7$;lr&&;m#3x(;2
N95EGog+!7~B@<RbycuDBi4g*u*C=rkDQXg@f{ySHOk3$Z7pV|-J(+EK4fGpUe9n&=^vzhYxtR<a)Jt`hrBj
?p4%vqIb1Z*z7|shX8=0#Yeo8?rKwDp#`iY*(-~mIg73*{V@WFaG~uJCzwmU5daAWV)j&`CazRvslwlGIpv#
TgGcPyh;ux5zYHFDRe=rPD9dV_t{0wDixD{?}UoKhTR6gtRE0aziiAB7piD7I-7d8!KgN1U7+wc5keJ+Stf<
f2X><Bwyf(Aa<)q#d>0{2;wUkw)_M)1Rlh+q63T`KgIY|YyNZerRB`b)4(L&2sEpoi;!*>p+Vq8$@ZZW?TP$
Xq_Y-{)>_-W^#IJuZLFVyicrRg|b*qxBb-LSg)2dr_hfsRrAqfhBl)8(3_C}8(&rZI?dJIuwPxY)(vQM*2i-
3K|0AVR`wQkgQ7MHa^qlWNxA$ueF-vEjY{!;5GN<zZ^?BlB=Fg;HbvY+oMI0nM*WS?wo`}a5R_lSIHn7`l)0
;{}sWaxykBm{JLmM4;2+B69}xK2em5EfJehGg7U6OiJD2_;9?Awcz0H=9dAzOh#O`XzcsSEGebDPO^?jCgIE
dib)`Z+Vpf_Ps3F_c8n=_zH0ua>QFdJU&4x5EAYL2~WP*i<kuc5fOJAq)fI5*I@Q;vW8LOlCh46*V+iyQpC*
Hv}w3BqnI!~(eW{Q${Vqe@VuFz|Kr$m!mrqfyn`c{P$8-SyZzmuKO$C`B`RYeM%_<XsY28ZB;jvvl{aYoRdj
;o0Z}zLDa&o5SC~Y;!Ob^@bawNcbVm8{KKy`L=S1#_OvnBY!rsmn
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
    'tp_btf/sched_wakeup': Packed(18, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!63#Mc=az+eZIFUADn9{^%$AdZLfPXMtj5H~~l7ohx;Q2q<3{_{}&4=7)a8N%mags6v^C%_1i&w|P
W0FZnN?E
"""),
    'tp_btf/sched_wakeup_new': Packed(36, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!63#Mc=az+eZIFUADn9{^%$AdZLfPXMtj5H~~l7ohx;Q2q<3{_{}&4=7)a8N%mags6v^C%_1i&w|P
W0FZnN?E
"""),
    'struct_ops/select_cpu': Packed(38, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(44, (16, 21, 54, 68, 80), ((9, 'places'), (46, 'places'), (61, 'places')), ((93, 'scx_bpf_dsq_insert_vtime'), (98, 'scx_bpf_pick_idle_cpu'), (102, 'scx_bpf_kick_cpu')), """
c-oaxF;2rk5Zp6%Y$PO%z`>#kkr1IoAq5p6L>g)bYKwe<;*^>v@PXtDmeN>q1)ty%5XptR<L-70*mA>3)@bi
$XLn~U`(%$i3>ecJ#y#r9#ZjdU7E6wOhp19Y#ey2=MStchB7X2_VsQ<gT(M5<H1n*UF#K&BKe(Y)h_{+NdGW
=1F45fdb$iDBjd_mzfKYdb`6nFD+#csa=VMH?(U`e)zZ=_^i8=rCC%#61=LQAyXQEW*{^`E#^rcuK*8P_qKC
MyL_+_j}m#h;}Xx~qr9$jf1p>8{WcL*K$xENOAKl{lXo+~02NTHM9zMUuc8FSQ41oP@S`Yta@&iOw|?*i<Rg
);1GBruQHnkT{>(_`C-OahC83F@bp77OqOQ^q%s^$YC1NP*9oSKFy=P>(+L=KIhK8~)Y2cj7s6@$0Yn^PZvK
SKv3Q?_?+
""", """
c-j+SU|<ji;w(-EFpvOZT_8Ts1mP<Hu^|x0L-`s&Y>dSBV1lS;<Yiz02}LlWnwJ2TFXV;rH$dfC_#k`+W~h2
*2p0efyawq
"""),
    'struct_ops/dispatch': Packed(57, (5, 20, 30, 65, 89, 103, 116, 166, 205, 215, 232, 234, 265, 271, 280, 296, 298, 312, 314, 322, 330, 368, 379, 381, 409, 419, 429, 450, 452, 460, 468, 496, 498, 516, 518, 536, 538, 588, 590, 609, 623, 625, 638, 640, 659, 661, 679, 681, 699, 738, 742, 761, 776), (), ((256, 'bpf_iter_num_new'), (258, 'bpf_iter_num_next'), (278, 'scx_bpf_dsq_nr_queued'), (287, 'bpf_iter_num_next'), (291, 'bpf_iter_num_destroy'), (307, 'scx_bpf_dsq_move_to_local'), (358, 'bpf_iter_num_destroy'), (360, 'scx_bpf_dsq_move_to_local'), (371, 'scx_bpf_task_set_slice'), (397, 'bpf_iter_num_new'), (399, 'bpf_iter_num_next'), (427, 'scx_bpf_dsq_nr_queued'), (437, 'bpf_iter_num_next'), (441, 'bpf_iter_num_destroy'), (445, 'scx_bpf_dsq_move_to_local'), (784, 'scx_bpf_dsq_reenq'), (788, 'bpf_iter_num_destroy'), (793, 'bpf_iter_num_new'), (796, 'bpf_iter_num_next'), (801, 'scx_bpf_dsq_move_to_local'), (806, 'bpf_iter_num_destroy'), (811, 'bpf_iter_num_destroy')), """
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
c-qTgWMGhGU|?uwVgQ2$Q2t3MKZ6xjegi9-JU0V_Fpyp$4dDX-6QKr*
"""),
    'struct_ops/running': Packed(76, (18, 23, 56, 72, 89, 91, 98, 133, 135, 146, 156, 190, 215, 229, 242, 292, 328, 339, 355, 357), ((9, 'places'), (48, 'places'), (63, 'places')), ((375, 'scx_bpf_kick_cpu'),), """
c-oa#F>Dk^6rI^S->$*AJ8agsvV_bDWC%@cLt(i9%XCzb*s+u%r}KfJLl>+#lT{idizpouK`A*KFi0s<oOBe
HmL?J<Wh6H#lPW=RaZ-xS{CR)Yx9dG3MmqibGynhj^X9)lt7^iG=GTy_y##qe<jQcWACru>p}UR{{Wy*TDN<
ug|7a?@1AWaCBGwbWfZ>R^WMq&1)DGeXPCAZ>FUfw?=${v>CPGk1+o_9xBVJL6o0RABdE`6q8M${-@V;ZPKM
Q@eSb`tN*`F8UotE7q^7q9%lNagm|0~h2aDKBSCG1z_K}_?lYX`YFMLVqP{10+)>+!yXA3@RVAdWApW_?DM#
APkdN$i`&t1>Q9xQ63>`62h!l{l9#5V*;9D?A_Fhki~kf1h&?;e{6_-^v;25$Ch!z(1S_$_D>S=Z!pd(n;_*
T_$`1w3?eW>*2)dvR$VcUpndYO+aSPbEH0=a$Z+i-w5D;wf~Vl&uosLJ%^h29QZ95eR>)5x155|aK@A$S*Wk
D9<tv`3Fqz=fN#%%+^@ed>vvmxjvt<w{Pwn>Z;S{*l^J~s{kHa_)GBqxb)M_B-WSAJHU7#V5H7wpaT>htJO2
V-y-F5p2kQ~&Cw4X5lz+5r;|Xyi<^NAEo>{!rHsj0r^|&s>`hvN?<{avGQvQkgYp;;U4L+a5`HtYv_p9a>B=
+I+)em_@E8*f#W<LDl7w|=XmYXNxKsO#uX7Zk4eLYC(mHL&fb9=6?$9A<U_br^mcc+uOq?PDiI{&CMu)oH;t
K$}#cWw5goh!B<zvMnU#LvdJ{x%Qw4Cill;6L^dcF*N;!|1@x+*^mwUptI9k`qt0g}KM+>LCsU?XTizjsyIY
_abvozAOWWIlB(~{c+UWQF|}J^DXs#PbT`C|LJ>@<C=Q&@W(9yU)4(U$Mz-bcbE6yETA6OsJ`;{V}Et#8}wI
xUmDCSzgS56Em`bJ@Qm`hPWah=!1dI%yvp2<>%w0>#eLZRNb}@M8u8!d`|!Q*%)I6EsV$lCk@i<@&NIRJOCw
v0zk@&D{t*xM?FUZU-sN-H^-b<)#M@Op%$ur*?H|+i^gBRy7xke3B(2@1#CzA^`lw|5Ho5NYJrl1hdKg<h8U
yoE5Bg8?lL3Fa$31*Th_R0$_Z}biY2tgdo_XIg{ln&^YF-(<pF*DZM2i2zcpqMPi|+?MPwUukv3Oq}U>>)o-
h5a;*v3B1Cx~zBC)*#IJBT~RxX(y@U#*O0c)@*Sql9<qc8U9SmKW=3UNmg~-bG#ch3b2GVZYCY;Xdp=R410o
d40$3+kA=oUX|dF<=->!aqO}Vem#owco=v?`ewlI+?{GU)j!*CsMzn60R2;Skl$ecTN><Jwb!V}QRtJS1>O(
e2gGB7e5(rFY~T2i<$pihgRl
""", """
c-rG&U|<ji;`2-lU?2eHXK_OK5<skrB(DI(hCmz-<!b=3F%tg=6GZ<*c?jQt8Nz4bgYW~;`K$~KvOu~Ss=ou
uKMCaraH7gj;6#-N05xn2%m
"""),
    'struct_ops/stopping': Packed(78, (6, 8, 37, 39, 49, 75, 95, 97), (), ((70, 'scx_bpf_task_set_dsq_vtime'), (85, 'scx_bpf_get_idle_cpumask'), (88, 'bpf_cpumask_empty'), (91, 'scx_bpf_put_idle_cpumask'), (106, 'scx_bpf_task_set_slice')), """
c-n1Ju}T9$5Z&D*CKpgIF?XCcNo+*02v+H0I_(scU=_{?Y9&aTBaIOR(`g~vT3HDe!rASIT;pe?J7@Qe$Q{|
{@n&}By_wy}7xsi#K>Y$7l!Zto@iF*TQHTe^pd>OUsAT!-J}^29fVcBygK<HKbHi&Wm~6~bo1X?NR{wIx#{G
(fpAq<gXpivN0mf8rZd|`YXG}hqjPD5ig6<WJk7xFAI=48SfqPETVwvVJ8O`x`s!Qo4RCh?csd#P@>nxgE<m
Pr+&uQ7pSYlq!!94nj_q)w~9proK+)w8E^|@c8W%tuO08btT`eO_+=_9Y(oOfN7;oc|u9Pxfg$6WZRv#&b)Q
S4`zb;B-va9)SNdl!3(-tc~&+~oTm>{qrH&J)%fcwdEq^$q(`{9f!gs&#GUa0-4R*D|`=5t)7d#Ya{6$;U(X
>B}ng%FxUE3si3Z>@T_dmV0L33jZ!?|JZoRcKP2+tg^aa+=suR_yvBjX*m
""", """
c-rG&U|<ji;`2-lU=RW2Ka_{?JD_}ZB?x~88ef75!e`-w@I9dXC>01F04%fxN&
"""),
    'struct_ops/enable': Packed(88, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<a~h$bglumiqA@MDJe&;j=R_F#P!c|Gxwy0}5ybVvx{wAYl)rMH!gD;)zgo;ZSjPAZ-AoC74k
4^9w=kRpJ24>`#Q6E5N`2wC?{FsJf|88USAz77G
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/runnable': Packed(90, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawOG*Pl6nt;&BnpDbkbxnaEaGn|F>X}?*|;@vAEJk7X6+F?faVGV*$BCYkVBZjEN0jC`xxnAHZ}}JbywG
`skR;9WjptZP>WfwbcE{<;jIXubk3y+!Fu%{Z6zQF4Hz-5RA-mslSbh^_CwMiF@G{`c1RCGoxR?Qp8<HLT;o
g0H#}tg?1Iic7X7L4nQ6*B_1O#ob{=!{n|H^#h|B%&J-^d@SA;0~85WNA7Y{{kFYBdppTDT-X{B?iFREhxE<
Opg`TQK4aO?2`Wp1^vlNf?tv$(|nyibnuUkQluTy<03ug<e)ii2&S+vhWteBHl%sJ#<zOd4^2An(zCRNsjN>
E8%{X++@TyOxoHvXQ=9{Kc5-oHxZE+1gN2
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/quiescent': Packed(92, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?f+!fR(P6`tct`?_UJrvokR;{P_R>zXT%#3TOplkkEFZygiT>Wncn}CqgKOaHzOCkTw9)==vp
?QThDJP<I$ffK3o(Vu9EXR0k3P*#k179cun<sCo=>#T#IH3)I}HP#OSE%N6S
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/update_idle': Packed(94, (6,), (), ((16, 'scx_bpf_kick_cpu'),), """
c-pHJ;$Q#)Q6_#cT`35r81@T6=yE0o24)}~4x}xBv;;E)3gB0U(3M6Oj9`7j5PmpNojs7QH-hqk`WeCYFoF5
oq5M_>28RDYumx(~R45Gq6jcp&
""", ""),
    'struct_ops/cpu_online': Packed(96, (), (), (), CODE_12, ""),
    'struct_ops/cpu_offline': Packed(98, (), (), (), CODE_12, ""),
    'struct_ops/cgroup_exit': Packed(100, (23,), ((15, 'places'), (30, 'places')), (), """
c-q^}!~h1B!VsEY8A9)02%*^-85lnN|NnmrP#p)5-wMQqK)jt1s&Da!|6qMk{ri_e^|3K9`~d3Pp9tZj>z9D
)hk^Y`5E>*8k`iU$1@jZ3>eLw780>(wI*@Mw($9pdpI-<<!`xLZ^aIS=zX<9cCWw2`?FHG#400coKNU&?0K}
*vY5
""", """
c-muNU|=u=;&>(oFt7k(V<bKR7kmL<
"""),
    'struct_ops.s/init': Packed(102, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(106, (8, 29), (), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaTzdwJ5V17vbn;z&E-H
cw-RbjwYUP@908DiG5q>r_Q1_q3^7N75!Ia_eHuU-q^|+0z8J&@iZg=UF9BA!1*(23lm-Ah$17_
""", """
c-muNU|`4w;&>(oFi3#%8F?Z66;S?lMhG7OQ1k<l
"""),
}
