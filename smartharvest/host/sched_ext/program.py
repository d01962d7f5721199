# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
9ab2e0445dcebd08ce22a6ad26c61800084b2389ee051204fadf2956d8b7dc20.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 73216
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNRON<;xwRW=*8;JPD{0ycS#HM?8W;|;rChU6GaqLNKIk6pkjUCLY(>q<W)0)}t+3p_iZel_XAUMK_8z2x
82qAIcfDnfq5FjL!9N>nKxNt#8<i-i{UVXYg-95W27<+nZt6sf&@74QO_4ocULq10M=k53M?^|smKeLa(V}`
e9=HTHJf09QS0DR{J%)3mu0>`^m+n7T>pkR){<Kw)2>^M9=BXD8=Ga4=+k8}jw`{40~iZ!7<hwbMS?c|!E4{
_av@1yX21HSj+`yTkdsn(by+ImRhpn?{_`xx@^8hqam->>q%_k9q4o6rE*xhv3q8rqMGIhSWR??~Gf1Qz&ii
2hgL>qGm5pltx{j|$p`Gh9B;z;6QIPY6LGe)vC!M85%z_Y&hX`w`WC&)4AbHNMsy^7U;_C;R*W+8?uIeG(o&
nc?!pv0rKU-xO`+<#z%P&i$ikzoFr23H);1>(Kb57<_3~$w9(@O29lK_OS=;Q(|xc?UMq21np0odpG-GcqFq
*CKG|b0Dygy?RoKw^#1fw-khz_1ADK3^C;iz&(@58<`^IUoI>=NT<cWD+W2ub5<PhQix14qaG1G+XnO28Uvm
-KKRT{t{c~tbb4DHN2-*FD!_VO|zlZi|OK+Co@z!xA$2YaT|GhT%uh2eY%{>c`ziBZ4Jg)d8+zyL9IAzJ9?p
No1R+Hz6DR8!oe(-)Sqo<WKdQ9&3io$LDV)H!O^hw3f7fzb|*lS*}a3YR6y_!FOep1F|jC%*j$*YmG4Mz?kc
Uzv1pW^boRx^Heo{ztHM0!x2PaMGSi38+y;t=#d^Epo6-J0<aE%5P|YsO!Ff{)*?8TVa2zELy&5s#1ib@Rn|
P&58hG2W{gpIzkRw8CzVS$=4moc08s2-@FTRPpt@&>o37KZN$S@GU=sb|PZHFQA<YAN@;?=iRu_Zx{KzKk?s
VF+BdVXvA3=x@X5)4BJ89vS|3m0&d63Gj;@1a~6+hTP)_!kyA6|60{%490A(9g4P?*-bXsXS$(l3VjB4UFGK
rPgn{;^Y=eK>l5KF3iEM*5?nC<_wn30@K>KxUgK)myQgQV=EwvxtZ>d=N;}-Y1D94|P_V?lYYccm*(EdY9`D
NS>8I#{`nftM4#$-c2*#BpMKQ3~XziafoqtWy4mWu8F5p9&!TwB0nj1X<iQ_y~niM-@-(T{QDq=cU}={Y9o!
QUqU2J*(ajuk(?sL}KJwxZ`9jUKr!((~qwqDNorHL(`rdA7~<;hWID+1A!-tF;1ct*y3NYe(aKSL6L*Tk-x4
jrVVBynnaN_2d~#4quUqI$P-*58eJ95Bxl{iQ=62{>59jF23yFzWSxEzy9*guJ4lx44iw?&&edtqOF*Q&M1k
uSohg8dN(4-_s5iM2YWt^^E9Fv8Pa|7AQ(+38IOV<bQoATs$RZFlGxu3hIBF}`Pkpg`=_(sfQGWKeL4ely}Z
3S?zekLs`Kp4=lq+uZanW6Gn)<oO?tVL2iedU?FRngIj<2%e1dr2dARB{+y}`h$fFT;B!f=FTgV1MO2hVMko
N}nqm30dE$Tb&Ajo{y>v|s179jZ`r9tRNaX%sBC?w-#6!rE=ocg`-B=dvODA}bUVSkMClw_1-y*<L&V~DoW1
Xu(B(Fvl9@_mv`wtc!sdwx2Bj%`YM{mf5yB+y<i0sEt1D<iu!+8X2}gViYsvmO5do77o8Q}8e^xa%dbImxKK
739=;_>jq~wZ;i|R#%<dm#%a#``vr%9!!5~d5Ix_Nm(u>obEV{oe7;#XI0G3Xq(g5T1$6U2+%q3K?Xp39Bht
|jt=Qf(iFKMX%7F97kCPw2=t({yd)MwY8n348o;*=RL-I!hSI!kAaKq*XOQGGuokQbPer&?S0~5|nzgNKgZR
~E1I!wT;fjBI{nph>>;8)u@A;Q*-nos)&lXS|iM7!vza_8GHiUuoBrhO<6~OVNMpzH_#Ay_>9ar!6P|GjfxY
hM<buV6KD>faeO5RGb448#KPLoaQGmeHdjp@i;7|;|}6}Um2!9t=}Y0`J?0k7#u3KpHGorV)>$dv$@mGo1J+
kQ9$auy0S)t}d=;~CIV$j~@8$%;PQ3nWTfd4Xn=0x*hnH%UW4(ZXNPX*o-LG9PcPipJWSvjk9`y{D|toflrv
Cjdg;K-ja^2Vgyrp<AFlQwvs!Q=j^z=dsD1zWJ}9C#Cr$jU87iw<qQ{aMF_b4<;ebr_O0Ri=TcniBa#)J&D^
6>!X0PoJ*90a?wkBccpwi*26)3KiiLcexJg&`#~J~N$M`3xU>5%=qs=R_5*fw`<myRhP6Ny8Aa#MJ7WCYS<h
1zD5$D7LIe_yC>!`ZGN2JU4OAB(QECrb%6)VB4aw3dY_07EQJ(qzB!xNH1|Omi50X*nqw^iXIGWfHU8=uD!R
cf!ZnNc3*@QT&5lIk+VBCO@rog>m7Gi<VP)EHX^5D91FPR9M;EeD2*REc=2Ene|eevcx%#)GVo~weWAJg5cK
+5{7qbCkckDwVHQ7&l0hx}xmoz{8{#Hzm@YtxZlc@$)MQ}Zzx(xg3aCdtT&GCvAOsDJ%nlu<+fr5x0fe%K!g
Z^<z;giU8bpaCKJ&jMOfJ(bXy>9)?N>@t`Xozplh^VC`XyiUD{pH@Bq!6M7rJ<%S<t+gmzA$q=$WrPp=*<>@
@&tP4M=c11>ra=#5f<XZybex31L`W(;dxW+Vf$jF0?1Y9|@v||EligSt#C9<DM@cdSB0zxK?gCHpP|%@f&7)
{YNBb_D>3M~dX870)7Lte5XMeab7cBPqTQ~09WHxKM`gtJ}pmt%wnHOdTIi}xBw#Q(P%-FKsVC*gwpiQR($`
*QhCWs#az;Y!ZLfA9=bEOK9XITJwx%=G3J1?yJce_`gzp~C@(UBCs7<}of(^-L^^O_T5Ox<Q7$cYvgB{|5Kl
;>m|!akPe2@m#Hld0eJ8{K<XZ?78+Ar>yq>LopcBf%?UEW6L<ZM2yRbQJ4H+-&^F4dqiWNQKci)LE_;NtIHv
gjQ{hbhWIz@U^9Az_@Z6{6_@@omqpT4NS|HjJ@b3pi2D+A^{}ZQI=<}ZsZJ86J3v|#9C-aolOIHn**`+M20F
HftY<kHkK=u%vMC+0Gs7&=$4C|fWzCQpqSKUO5K$68C6{ETU^E-X1C`=ep`rNT889kuU*s@W)32g0*EMxGRY
xp@IVneW}L&>QJhgo+!+$#rG;iQLYj^sm3vIZ%e>2aVB;_-cCWwW-@SOPd*>z^fpfay1Q_KZkY|uRCmD^ILG
BI`2P0hOG)|K`Dy&>rnlPpgs|D#}46_(LSe)hpk-0ed7teH4I2VeDj%9RqxM%UPi1Al1zt9Cdl`E1k%Ep*h>
rtubGs2SWZR(s<2Pq7Xx)-V{5y8!(9$`}Cs$3ILdRRTeNPx)`wFiY^2nA_~!lp9YpOz_N)~a$ucrIxgkz=Z=
)e5XS5)1S7SoXjYJ=jXD;zgpT5o;xbM%?=!^UT_+*)5HDQ;@Z_R9ncCBU&)(E3;Y@sY$7T#>BM}(ypgHXH6G
27a}Nw@+sw{xLL}b#cpr|uCDe(eYP3prp}a8=s0A>T+?|Sf%zOoVQ)l(v`!uPb^u9&kqc`3us3UOMGt5U;TI
gQH8P%zMpRE|7zPi0PLw-g0?s8)z{rwqx(o>?B>0XrK^&q`R^vF%Vm=9ez!?=p=~N5tY&wTiPgUzi7!1la)r
#rP8%)%oxzjA}(Amu08@DdsHWHa4>|pJN$PuBEe?f;JV|wu~WKk;i=UE+JaX!H)WswIh%&utJEKg(C!m2w59
=>$0zT!}*JNUtm=5&~~GU$!AIGhklC#x4Q5pa&FA5XTi#&Q>+u}Ra6rKENmB=&1}fFf~S4l4354a;6$pz#bU
Em=geUT2Eb5a_CN>l%MIJ(DVJjY`h(U@?tA^}&Bf=(arraubADm8W7(uN;h?pNqV}Gx6vl9b6Z4WuY5E>R|+
5naAh|SIQd{0##|UucWITNknNS#ns|Bk|$GU9FdWI+7*YHx#?9&SqNG#FW0NUri*Dic|iR<fn>fHj5uF~5>>
}Lo(LJ?uFxeb;)&d+wT4>ij{_{`z)zw#3HWhnJ_x{RMq%MIb!S*|`B2=tmeOhH%Za=clSPAYn%2x!o_HF8HH
J*l%Dlmgxn|yd!OFw!T)n(rz)C9)4hkykhw7@vn{tG-VA@0_pLOTnu5`)Z6(e+ouI0>GnOJ-Ddnm6xPAT0U1
CRHEe4`ds(9fA;i?H57w9Agj0$z9BGv%W}jWEp<*K2iU{VSDR%M7<5c>4*KxR?o}_rYIY>FCwQI_Q@F(w**|
?&TGty9|<y18_RT_Vc9VvPq?@B31r})H23uv`%4Zf_&u-<V2q2LsG_6%H^kE)3vQ|6%+u%8sA(maX!t6MzS_
!kr))P2*rH&F9<E*TVD~HSwsn-(usT2&M@Y4ek@(68!}R-Z81AyFK4Uf8BYa9m<4m|95W0xD`zd%idsvCjl8
dz-V~)X2dpNkb6DT5&gw<%XWLV)BZkhwdhrgC7js&{DZ7k%Q*<7D0c-iBBE6}+kJHrwL&%t>gJ8^4?R*er4x
TiK&~e1DwV}CZBNA9=pGVAwG<??Kl3I<&fl?q^)rq-a2aaXA<wbO5&R(I-qPS;V#@e^XE9@$_Q*ka-IuL4B9
rkDmNBIP4%JERCEYlQSsidf+Fd4|4F*@Q`WC8VxQ7SRkryIio2N+^e>*PX`a=>X#aXG``D{p7AJQ<HIt10@-
D-zK=?fQTPDOI`uk7iU=Ii^88O>rP_Dh*p<;b*Ceh|<}oJm~~&E_GEOZ5}4wu@fku-jgKSiJq{v&LOY^8qg+
=ZW_3GE>NCTa;=3qh=a}wLxE_4dr*;da%S}t(BdTsP~Ulliyz>U`qkOK)xQZcq;%{TcEw7!0}s}Oo<jFFX7v
qmJtt|v5G#)^5x_OhEtp!z=)iec7C=4{u<wd1I$faSiG@ysL5{YAeY^nMceOZoKu*Lrq@$g;+BB0AX{3%GLi
u|x#*HECu`Ud;@8CcwGAAp(9Q{gV<B)1u^64Oz;@ur9{Fk|sy+^wTt?)$<D6-tThr|1c|M%Tb5$3DnG&7Lt-
lE`l$ukc`O=rc}DMwBjG}-V9*_lK%>(MyZ1+6*_Nf+Hm7d0yvO!~b8%I*qwYn-EArAy~%%o4YnXfisRdbh!-
HelUi@YexC6%AQBgU$zbqU^S;I|*{Mn;3i{Ac;p&Y*4NB8bqspgJvX@4fXq#m_&CO6(1<$;@AFkFEUg{?>2F
%fkJJ1!b<pW>D4I~IL%9fo`|@^nBAmTzZ@Ww=_9-xFweSGUDP<-6}D;BjjEF%J^D+6LLjB;cAdReW5~0eon}
3TD6yw};3wIqX{trQ9;9Kg6u4S9YC5eYEzqbTd}qhrNd7l~VuQa~I*j6wus?hF{sv6Xl9+5~TMCYWu#3@qSJ
(aPH?DVyd~=t-WeWl;z58S6gs~(9ba)oWf?V1(4%@g+NjVS}R0D=&+*T8i;+hEsM^+_X{#4E8Qjo8WRlWm>p
3&84;ZutDAWI`&)21H2?7hsT6$03|(qP-i@Dt;EyhX?nuio(Z1gStsxDzBi`C@NF67)wzTriL#*&<wn*$cuN
Mu|(tIwIaJBUsQ7GhfrD;nIv^!t_MP$LJ}pr9#4!SAzbJW6ub`=OXeVj9@~Ar~>TvH-p}gSYei^jDZ-%H(~V
xQP+Tkzdlu5WAXRF3FhcT6~d&bd5K=;5&0T5-x$)~%rep*X8YUl17@8OxhFCm`!5^krGx
"""
PROGRAMS = {
    'tp_btf/sched_wakeup': Packed(18, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), """
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
""", """
c-mXRz`!63#Mc=az+eZIFUADn9{^%$AdZLfPXMtj5H~~l7ohx;Q2q<3{_{}&4=7)a8N%mags6v^C%_1i&w|P
W0FZnN?E
"""),
    'tp_btf/sched_wakeup_new': Packed(36, (1, 42, 101, 149, 169, 189, 210, 212, 226, 234, 250), (), ((257, 'scx_bpf_kick_cpu'),), """
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
""", """
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
    'struct_ops/stopping': Packed(78, (6, 8, 39, 50, 60, 73, 93, 95), (), ((68, 'scx_bpf_task_set_dsq_vtime'), (83, 'scx_bpf_get_idle_cpumask'), (86, 'bpf_cpumask_empty'), (89, 'scx_bpf_put_idle_cpumask'), (104, 'scx_bpf_task_set_slice')), """
c-n1JJxc>Y6x_Wt<^wceUbxugP6P>91gl^ZgMUCpiCsJlsFfgE9I0Xuv@{^vYGZ35oZbGAYy1h8>Ehd+m*S2
rgkj#^doyn~VNIA5TmjW9u$L8LCW+sHZ)JpdBy=s2IBqV<i>JVF-~z|f6^+B)znR8}egj=Eqj9)CHT7`ht{N
Yg+ooR2N%%Sg?-A_~9_N7(wd*gg-=KF(ewVfX5d4C^v$dZI`)N)M_MgC={F1>e?W1oL*FULmMkl7e1Ksxl-;
GVqfkaz+?|f?SI_pe4lTakFr(<Cc<#WFKJjcep+5zuWI8T|Hd&qMg&*alM0*{*lI{Y3(ANQ)u_w|ysXkOg?f
}YKDgEn-k>@Q$sUk@eZ5x(P{9J#@LE#xS@g}#Hz8s5=DFzSZi#o~A2Ji>C@boNK!C$gH*Rh+YWPWm}7z)!j!
u+N$-Kraiuw7>NKxXAwE`yaW-x$2hK|26fDuoL;rbD!&e^PCsPe}0B+a{
""", """
c-rG&U|<ji;`2-lU=RW2Ka_{?CqVh?N)Y}6G(H0pgwMhU;aWiX_mv@h05DYrwg
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
    'struct_ops/cpu_online': Packed(96, (), (), (), """
c-q^-00C2>Gyo6y0ZI
""", ""),
    'struct_ops/cpu_offline': Packed(98, (), (), (), """
c-q^-00C2>Gyo6y0ZI
""", ""),
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
