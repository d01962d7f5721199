# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
4eecbfe735e7826f41a3fea7c7493a1b36f7dc2f7a52aa3ceef938095f4276e1.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 52160
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNRON<;xwRW>4YbPNf65=F|(;ItN-Q(HWS=%vY*Sn5mkL{Hmud^R)$Fe%T(>1%z_H>WCdc3>Xgdib=_(&i
QoDc|!1A+q=IG`MSK!Ai0Cr(^AB5{b2kT`JRz4~-lb@z<zK<`fXo2pl@-ml(!RXsoY#|Sw<#P!Sl;`8rGqOQ
>=;5H)QkukVg*;n!eM}W_m#QB7Ym(h4KhmA4hQ#sB!++Gs!_&&J3E@@%=n;NaB;ntLR&%o{T6>|bShVX@)cX
C<shqSK4=PCGn0H0g%0g=gre2y`q&4(;*Rqz6IpG7(D!RI;nd_}Z9^J#e20RY^wO8}n&_<1?z{D_bpdAo$jl
HRgxe-Az`z%NMNwg7%n^0qx9^z$Y>WB9x*6^ZoWe+-%a0Dz~7agBa9hxhNo?Q3GLF_i0jf=_<^1mFV&UB3di
pN$B8V&88x`VS<Gvix4s!Lfgm@CO>5X-Qwr8v<}pcE+Q*9u)qo66XnN$FBl>NOpc5;8!I6HvxXlwB6`u;P#!
-Tqoa`^fLson}R3g6Zw5!C}MoH!VikJo*oyrK0KiRTe5#LC-khE>rlnqc-b0@4%}|;6QoB3&e+3vy1P%zc@*
GR_vgB{0dB}K=tE7ZyZU~iBW^c<X9|8Z3%85=b3H!LZ2zV<_6q<XD~vsk{A)OLe=a8x>oBvyp@JR;J$2bfHG
RG?1h1&0|9n#D=u{qzo>lgq&uJS^1W#kkIFQTZA28)9&UvOl6KM?ctBHs3Ps+56e&->2at7#mn4V@{5_(!1(
EqEKMgQghah@N(D(EZ^=(i4u{&xoSf8#aLzdE45E0WbS>jV0aOo;yL1N!g1F8Xg)_}zG69S@W9pOVgPfcG8F
^V5rmMa;+RAi$nnn^OR{WelALxFciS>|svlNu2163_fp*=lBNP)(;zbN~OM0U&{d$Ztos8VoQcc3wfGKp~ea
_{^AJ80q}!A67nIyUzDA{1$bNX`Uil!$OkO;KOd3#0g~=t0FF>Lfd8ssAoe!}Ly-A9z&(V)`#%CWK^T<xuOo
RbdU7(i!E=*&{&{gy#3|I>K?(mDZ9OT*eiz_llX)yd8>l>XYSOepXy!3PC)mCq<{d-)s~SHyHGbZk%=2MK!l
<86;e+;>!XFVnKQ43mL4`kJ@-QxWz~}u*9#6;YLY&QX4xevpJlxcHP;-$2{aDh+u|JUX(NBM>$@p_k#$RjnK
h)^|Zc^B^NdJy<q|wTn>yhD)M1p;a--9S6u6uT6<?Ky&b?M!fyLR(h%XLW~I!>N&Q__!Euo+R`3gc*#Hy=Ny
HzR>`uSZGO+jVJ_CIMw+o9>ajUf8Fk7kX`IFsKMp?R1yKk-Ot<(|(VnJ$EDR%&_(r^;KJAh5@;D+SurI8f|3
Ndh6N+_u9(xMLQc=w*aZ%POa2q+pdIb_{FjA5ldcPv}fI4uxj?*IP}sWq?QuUsyS0^%S))=*znT!)~(?7JRc
TxEPKmiE^oCRhiDU!bSt5r?*>sPCcVHXy*Lcodn8KScCXJ|FAU=y>J$E@mnMW!!rHq;h{p+SCNYQz2(l4W7o
>ZH^}8<JrENFqLqnI6c89si9fh=;D#T9cZ8EY$gUzj!FqoYZpWSiq@<GkHW0?#SQo42w#)-qmrk7Id{(Y{>b
IU6&ccpdqyp257Eg^<uEi728=PtF*yR92*4p4hzZkE#n8Z1=`PwrT?JAK-x)<PvQMjL|pI-ol91f<w<K|>%}
<ZXn=Ws|h~NrEzxB!z#J6z&o!0556I&C0n^7IPXtdEJ814TG>_9knVkleA$_cdXOaF_iBZa01-GJ(p6sy5*$
<1k{|M0fuyPzkwl(pu$V;>e|ZExi$Cgvp3vx*Vb2YuHyrw5i|=P#7!~lWPXfDC2o`+K$XBlbMAyDMH`H7)g(
0-Y3t2S6$i>^r8s!O`g40pyg^+q@HR~%8roA^G@;Xrk~XXxFnRDL8h7kshf}u{2S=?_R?P}D;<>i@a_l4&9q
Q3msx_67slMJHPG^gTJ||-pS<d-GOCeJ#oMdD+C?KOscjCkc64Ur}tZ8dj3>N*<3ldmdv}OUTx%)=pTEB8d9
{>aefVjsC7vQ3I+ZoAY1JNpJ>O)UB4j<g?n12~R2~GP+WZ7yZIC5+a2hEy)FbHYBaZ<A^UY)ofq2HZ6fo6yK
QNb(~8WpHQ^(vCsO1}<o5h$+9_M*1ip<s5`i+ndu>?u??yJdsFf*7#6V3n<2cB~ng3tW+Nbo#U<`%fNswDl>
us$QaqBtsnAazzTlMQPR0U4TX9J-AYCnbY4^B8C3+;*J-j%<aSpj6oP8j^4c$hrWwZK7@W;V%r$I-AxK1irH
x9LgeNHA~rxJp6|or26{9B>7}rcbX-n4Xm6towykW*RZxd8f5W}JbnY@_)mH26Yilr0rTF65JX^aF-Komhyu
CV2W7qIh&1gu4qKW8o;~tyQS`ET^`(UbdONH>zV`*KBF_=5mdftfR&<dCv_#ygV#|s%X{9oxIpVIX^p^TP-G
ACHKrX(3qqWcz*CDlU-jks^?a;m20+~-U|WydfntL2j1S7zoy83I9{u|`|M+Yu<v2O0D_g)t)fUDn@Vdkk2B
IzqN_IW_F<h+vL@<R8U8B~Tw#q}AGX6z@dR^}Alr4dZwl=!2@d_LQg_QKi1NZo^=khI=+2={Q+9=JfaoAeVx
_x%`U_V_|JxTv=Yf##g5q)F(Kz(~AKF?<s3SE+{Bl-FDpV!OG*yitTtkdn!Y%TTQMVy|~0nBJlDHn2;-%e-*
Q07|0?iM8XBDIS-H1S_tBduJQz81xJsnDUesCqkhi^wU>1SH~y{8?R|B*bz^CD&0rF#2o+UN=@{Zj{<&1_79
V%J5%`?z4Dm4yh?g>w7<xuIfo>#gu39D4ahY>y)x;wY%{t=-b*;FE#kxVkEY#*^sw*3EM;3;hws>VNU9C{5@
UGm}DoXQa9;TafCuOyljZyxAb4)M7vT0;RyP0!U5`+kfY{V&KNi0{JW?aY7LBuGOwVa5m<ApD9R_c}%Peg}Y
{t276fO;?qw64D6UO#)ewSEoV#+s>F9%eO2Tnwtkn9+#4@Xl6jVMJ$EZH5fuqEOo@r^i&ekg?vww1Ux+=Ov*
KReQoJbIiqxW1*yO7TmO$-grL9a@x}QD=nZ?IV14{*26MVkHT4-5rS1~U6-UfAY(ev*KO6_3xW;$9u@(1UR&
V?0=H$*<6*Hti=EO5rGwODAzxYD4y%l?O3P~^xX)@Hkz#44)y8}`V0b^zmb|b5Q{whm7B(8Qh2lpV(%3qF+`
4Mu{?jh?I75gvw9-=QQxKXm_7ng2-R7dMY@tMOhCB|Hi@<uRR+QEd3%GiBBlja4L2CL;xnzudzImxz?<2Apl
XKV(sh13L2Vo9iNeXf%Hy^gL#%6GrMv$-|o)>z0{V=3@TIUoTj5$GS`7s2SD27EAcj+7ySWwVfY6)T&g>5AE
<0u}J-~quXV@l^*dS~5wH22K+b^&hs%X^4<Go07Bs=;%It++?d|JRpS&aWD&KTB1(S3%-PFxP*^hh$^;W>@N
>w7H$&`__v6IOmjS9$aC?9ULF!XyO*A>cK&zFI}oHTNLVSj;RM7zFIl<?S|ZpOQ%!SIxG<gj)@!fySS&YrvT
WX3FC!Xv2c*~+Sx*t*tS5G6^lk?H_ga62A2h01ZscE9jPYCRack;;@$9irDU4CM1|CVXRAKO?*PNLV_<H860
0gZtZefDqgSc2E^tgbdP;}T#Y35I2T*z#$ye1eI>Gs}fqdX9iT85tYFqFispPm?{YLR*>P!$aYCOH}E?0YcZ
C+M_R{g5^DyZpd>c)4eo5oQ7w!KiuRa7bkN&Erk8B9tH8)6_6JwG{-o|(C_w%7&_uiO;qwG7ra$S^)d?W)(0
YoK`do%Pmw>%2pBCm?ap12-bYl}k#CkW@M!sq!c?P!3*oH%YNV6jd5zRbCU@V%t8Ta@R^ma~M&l(pt%=nv9B
3Ha`5_L?OV43K=KH0)TaUc<c(>C>AGBxZ34tD>Hi`j6DACO2(Z+&2+oLf~c+SS7@X7eqx@#9cWf;s!F@5dey
E+^X~HYYrsB<rE#xUFhka6o)XE{VW%g&qRorBdsXE?;zh%hfcwNs&51qWY?Z0Sn;Sz!*>tAdG-sV}T{ydb1!
{!W(#1<_LyiEa%ovZH*9xPdiV$?&xFZr0-+np#<-x3R=FkR9x}5+@CJ;DaDYJD&$^#={R5N2H*rT01<x-02r
7uax&Q$X86#*K6HO)2Q3_~|-)bglONXR@=y$&k-DpX5D4Nw(n^0#<Yye2bF33*H5fDqdr9%>%Se`)>UJ3IBR
t`PCcY^c`9Kd3CMH7MU%S~x<}7Fg+&<>MX;f%6NuA9Ox6G2E>(d1oDS7iTU&E>1bhsQ|~j=gFOZKv|ncsjld
}(a?0({P?Oyu?qa>oR!37{f$a-2dpBFURXuOD0z5^CosC0db1&@)=@Zm5oh*(9<O=o!2^7-MEMY-aF9YC@Ay
cbdqey)tfMy@Y-=5vh1${~#k2G(k)N!Z@v?LpUv-48j#D4w2z`P#=Z6TjM>`ZY7f`L@VAVJtRt)*TO4WHaf6
Zj*v%zL~i=j$vDQ^gr_%unh^Tc*S(OV#@*+Jc!p4DP&-i7b5iiQ;50Tlu9laB2m@(KUi#upecoW&98vdtWiq
ws^%8%t~M)#a-#qJA<Xe%=BKE4>Rde8QO0s^LA0)k51e@*6l$$vF@gTm!nC`QiZNc));6qQXns@>MljXhFS3
t^7>@1|eJHMGVP)7f|YP>P7D1!+)nRJ5PZ6X5w{SjPw!yfF_IX^4*h21&}6vBH|4Zd6WM-fZ)<6@&JMezvaK
j(dZ}&Dwz=ZhLzwsE$KnH=T&Bgk27%w33m&f5T8CfrSgfW9|%SkL6#A5>_ybM7%5~ck|$nboR1P-N|O8tkcd
}>*%1~|KQ|J3B#jNmNMoDrb>RW4kP)Rqpw@+1$bSJ^R<A<
"""
PROGRAMS = {
    'tp_btf/sched_wakeup': Packed(18, (1, 99, 158, 206, 226, 246, 267, 269, 283, 291, 307), (), ((314, 'scx_bpf_kick_cpu'),), """
c-o~_L1+^}6rD-h?v@0ywi>pI8Wm!0CecH0jfkKpJs9zpMh|+^qM%DIR;Yqk@#vvd8od<>Bw!#pNp9v??4`#
Z177wZtn=spO?Ia{Zb}D|pTG0pn>T;{{Ed@ka@d@OhO;<AyWmQDr|dsxJnWl_Zz;a5_&LQdg#1$p^y?=q>1T
Of`fc%T3fp^xahXN5y-l=+n0GzTYb6+)5&nkwtO3ua>mkosZV*o{hG#@PW`L(n`EfpvytwsM9PGqtqK@A4qv
;2{9f7NVCB7;5pI*nfZT^=f0{b~~K55;&`G<KNdD6!?m;2n51vS<)MSg<$b+(bm&vPdGf1Iz=$2Z;|U>+$ym
qq+4+y^s!9~!6k@!V~ygKusK2kQ(|jE&d%5MHPEmg43Z+f7a8jU>g_(O35u<lk3tmejTD#o-PVoGo#~Slmd#
<s@zpi*prRLE`$cI4Gnbt|)PxNSrax*s_8*(-6NCidWCUPAYw_M18JYloi+%I8iQM?E=lefm3D7_kmaTDSi&
?jOz3q@zzQcJ;3A7zZCPZfGsXTRSb9rwsr&O&l3*xT@?d<gYBIp-fP4oND_f{GS^v12dpy_xIfT+Gh)bCF=~
P5TnzXP_DTQ`c}-J4?&i_XvYV7Im-4k7ov(+aH;}Ii?3MraSY-b3ed3fW(R^E2-_FIuysstiFPtx##B)o-Gt
~0*CC^WdK8twoYIp})Uf5Zc{~&!f@jTG*^tC({$@5*KFGswq8s3gRf0DOJ`U=GJM8mVA&!0fFL|=o#tnyE&Q
|X_F{$FfSKP8^VT3_BX=L`1ZF4grtfm?z8Zs7fCC(u4!p!%e^7vdpEcr0u(B2WH(*t_(MLp^5a&Pcu8`eYq=
pN;$fyn<gMowo-mzn{#4-gVq)hW6K3>d5&Z?@E;JdRRBa8B^&mO8tAUIw2n5hmzZ{@Z4I2`$+a5Xs~8D
""", """
c-mXRz`!63#Mc=az~BRvugV1BYXHTifpjgDp8({`0_lZN{sJhUl^MeS!3fdM4dpv9LHLDGeg_joJ<PllQ2EP
Hc>n;q3M2
"""),
    'tp_btf/sched_wakeup_new': Packed(36, (1, 99, 158, 206, 226, 246, 267, 269, 283, 291, 307), (), ((314, 'scx_bpf_kick_cpu'),), """
c-o~_L1+^}6rD-h?v@0ywi>pI8Wm!0CecH0jfkKpJs9zpMh|+^qM%DIR;Yqk@#vvd8od<>Bw!#pNp9v??4`#
Z177wZtn=spO?Ia{Zb}D|pTG0pn>T;{{Ed@ka@d@OhO;<AyWmQDr|dsxJnWl_Zz;a5_&LQdg#1$p^y?=q>1T
Of`fc%T3fp^xahXN5y-l=+n0GzTYb6+)5&nkwtO3ua>mkosZV*o{hG#@PW`L(n`EfpvytwsM9PGqtqK@A4qv
;2{9f7NVCB7;5pI*nfZT^=f0{b~~K55;&`G<KNdD6!?m;2n51vS<)MSg<$b+(bm&vPdGf1Iz=$2Z;|U>+$ym
qq+4+y^s!9~!6k@!V~ygKusK2kQ(|jE&d%5MHPEmg43Z+f7a8jU>g_(O35u<lk3tmejTD#o-PVoGo#~Slmd#
<s@zpi*prRLE`$cI4Gnbt|)PxNSrax*s_8*(-6NCidWCUPAYw_M18JYloi+%I8iQM?E=lefm3D7_kmaTDSi&
?jOz3q@zzQcJ;3A7zZCPZfGsXTRSb9rwsr&O&l3*xT@?d<gYBIp-fP4oND_f{GS^v12dpy_xIfT+Gh)bCF=~
P5TnzXP_DTQ`c}-J4?&i_XvYV7Im-4k7ov(+aH;}Ii?3MraSY-b3ed3fW(R^E2-_FIuysstiFPtx##B)o-Gt
~0*CC^WdK8twoYIp})Uf5Zc{~&!f@jTG*^tC({$@5*KFGswq8s3gRf0DOJ`U=GJM8mVA&!0fFL|=o#tnyE&Q
|X_F{$FfSKP8^VT3_BX=L`1ZF4grtfm?z8Zs7fCC(u4!p!%e^7vdpEcr0u(B2WH(*t_(MLp^5a&Pcu8`eYq=
pN;$fyn<gMowo-mzn{#4-gVq)hW6K3>d5&Z?@E;JdRRBa8B^&mO8tAUIw2n5hmzZ{@Z4I2`$+a5Xs~8D
""", """
c-mXRz`!63#Mc=az~BRvugV1BYXHTifpjgDp8({`0_lZN{sJhUl^MeS!3fdM4dpv9LHLDGeg_joJ<PllQ2EP
Hc>n;q3M2
"""),
    'struct_ops/select_cpu': Packed(38, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(44, (38, 43, 74, 91, 93), ((30, 'places'), (66, 'places'), (81, 'places')), ((106, 'scx_bpf_dsq_insert_vtime'), (111, 'scx_bpf_pick_idle_cpu'), (115, 'scx_bpf_kick_cpu')), """
c-pm6yH3ME5ZrT|90ekgz~Bx=AVM7|s0al#)Cts9zJP+lN(B<1zz-x1Wr|2{ESUy=f*+tv6pD1m?d=%H7NWz
_X|#{oottyw5nT{bythI8#k&qD8wxfL5Wfg&+qN>sWDgS0ET5TA_T1T%D9Oi@m2v!S@c+AiP2c<veIfYympu
w{ol5~pL!G(~i+yvqFZ9ZMZR4rpe(mBLf6Gk>YvsQ9<kR7(D?X<?ggu*5Ka_ajH)Jn(A6CYK@8ReAmQDx9!e
9KvJ?J@RRMJ0CUxxF;Yw;@^7rLEK6T~%n*Q!4W_Od^G^=K?}0&2PXk=LMeiyiE(@|$hUfp4SsRQ;x-%FEw_-
>>KP$$$uR`pBo4-&YcM6m(Sl5B-WR_#a=sDtRA?_fL_J&gB0HkiQaqtBcSK{44_AL$|fXUdP;O_^&nQwMstZ
eeWbfQ&sq+*6K6peFlC5NI-aj
""", """
c-muNU|<ji;)$FLU=RSrx<Jg$4B<Bbu^|xGGC}wofY=y`FTo7aAIl5jXF&Ovq51&`;RUw
"""),
    'struct_ops/dispatch': Packed(57, (2, 18, 28, 63, 87, 101, 114, 164, 203, 213, 230, 232, 263, 269, 278, 294, 296, 325, 335, 345, 392), (), ((254, 'bpf_iter_num_new'), (256, 'bpf_iter_num_next'), (276, 'scx_bpf_dsq_nr_queued'), (285, 'bpf_iter_num_next'), (289, 'bpf_iter_num_destroy'), (305, 'scx_bpf_dsq_move_to_local'), (313, 'bpf_iter_num_new'), (315, 'bpf_iter_num_next'), (343, 'scx_bpf_dsq_nr_queued'), (353, 'bpf_iter_num_next'), (357, 'bpf_iter_num_destroy'), (360, 'scx_bpf_dsq_move_to_local'), (366, 'bpf_iter_num_new'), (369, 'bpf_iter_num_next'), (374, 'scx_bpf_dsq_move_to_local'), (378, 'bpf_iter_num_destroy'), (382, 'bpf_iter_num_destroy'), (384, 'scx_bpf_dsq_move_to_local'), (396, 'scx_bpf_task_set_slice'), (401, 'bpf_iter_num_destroy'), (407, 'bpf_iter_num_destroy')), """
c-o~`J!}+56rQ=C-7~g0AF%ey3Nns`0XO^#AsW(9Kou1KL<s3vTbAkI0AYqJkPD02g@KYgAU2%~OLlS6xq-M
e9THNMf`X1HO-QxOoA=G$-D+>0h?VTO@6G%F+c|ZhAn2)%uZ0BtjOciRANvg)$oy@fI>7Yi2*YV9#3c<kvqI
=sar>ZvzUM|?<0#|z^Fla;Ut@eiGrPn$v~Kw3HJ(kdUxYn1a!MM#7q<+5`83mA%}*!Q@fU_(y}oUrCx0>LzU
<WJYJ9y{>wClgP4@^9YT7XkZ&F+Xu=^BtXMBz`1HKIN6%qeN4t#^0C(k`>;HKs!O7kA{Aur8Z%a5;N7;b2Nq
+&_`RUk(ei-XAj+Sf2m&g!@Fkw33F4?&IP`xcr0o9q#kV&9GB`B_U(zD-_Lwt5K;_qXDul)e?0O=eY%^R7y;
TStA6A5RvU{*viU)NNHu>o7u9XZer1&ez)N>d8Ws$6XDlax%hqQu>6>CG?rT&GC!ta9-6c>TpIxb-mOkcN=~
$WVs)w^}h>A_8_lD?-<9LhZrxPga5f~)Stv*<0Zd-raWR^HVd77<cnCp3YJ$j&Y#s&9s0}Qd6A3wNL5awKM`
JF{a&GJ=&H{AhnJAY4DyfpXw~Zm=Lh+FlIc8mVc(uFWY~_c^E;^@q7f|5@cA(0EI;v`)epTBw0sL%37IMf$Z
t$;0sU_4Omkh-kKxr%xs5LML+=Dnw#ic+8&??bJHfDlIiGNNzMJsJ&Ut))SijWZc5nN<&tCk%{e4e#%zwAJu
a55;emlprS3mRq+V^KD()I!7d3I>$f9(ZTXM4d*_EWuJJHacq8{ZefD(mm7u%0nJ$CQeRp4hxBW4}AR-{+k!
dwiyIUdqUem))N_CwZ|iagRrJsN?&QVY?B%wA-7sk0vG0i=DsMh3BCQoagB&=c9)2gT&sK=!e+e^b0Y+Fu>J
YJH~$Fd~B~)SfGe_sy^@6Xph3*k0U(C(LNj8j{21FDQAWIY8CZ&QGbW!nyA|b>Ok=keW@Swi*t*6;t}^P;t3
Gvw9EBwD$Iqh|M8@HEZe-V%l5rL<~T;aJO7qB8OHZ%PVfCB|K92B$uvDa>uEelo;Ry!QhW;2&c~b^#^1&~^x
SRjgQU3qY|Nig_;ZH+Q3pTs9t3?ZD|vs9Fg+gUl(^3HHTYME)pc=?x-Q1+`fF5IGp`R@`^oelz9ZjXZ;$<k{
l}Ho{ZN{@E1@6U|I`omdu6{LbNb$r+!s!IUqGLYbMOB6V~_sGa(@Kzx{Y?d-zC<mi+)f1!1ITA=w5t8!`}fd
-+=fh)z7>rrN+65d%ML|Z4LKk-nUbthw}$|P&yvn+sU;7nNQry_V<C6v-&r1z9Q1|-}2*M+;6_@5$Ahz{td+
<6xa
""", """
c-o6#WMGhGU|?9t!~g~ppnO(l2tR@qRek|0s=Njd1A{P-zAORZ0|3(!1nB
"""),
    'struct_ops/running': Packed(74, (43, 45, 51), ((31, 'places'),), (), """
c-pI!U;u+wAm#w#J!}yEc18vU2Ozz_8N%lmhS2+$Luht(28JL1|Nq}#2;pyGg6IdCQwY@$0+ow@{72DGYxPL
(`+&!N5>Wjxu)hcq4j`%R%nS_npzuh9h=%|L{{yio0~45^$P5t=hpO8z0^zH(Ffb&5%x6M1UxF2t&+iI#e+w
i6s$Dm5gY^T=(*UVwK~rx6RquQN?DEQ13ou_k7$Tm^%*+7v?tgZmK9GvaW{7+>R9^@i#GN32f&Iq<p>I2_0L
$kmL)4W31wlz59Y}+`$S(vDzispZoF2A7-7^(R0|0X#MMe
""", """
c-oU-U|<ji;)$FLU=RVsx<Jg$4B>YGu^|xGGC}w|fY=y`-@pjb?<@tChw@{2A^aO?d;plN2Y3
"""),
    'struct_ops/stopping': Packed(76, (43, 45, 93, 95), ((31, 'places'),), ((107, 'scx_bpf_task_set_dsq_vtime'),), """
c-pm6Jxjwt7`{uQ2{=?Lt=U8z>foX{=v2W!;2;)UG*}TQsk#IwmHq$)aV{ct>=1~9aI60zf50(gxAVPw-e6K
nHxG`7=e_six#uo!3cLEW1KM9ccq)b1BUESLwI!hX0Q!_X)>^B3@WesA>C@wSv*Ne0uGIf`eo0?GLtn`C#Zn
J{KA5AFlH10Q9^!`-)U+GIu{;V8?{J>t`7Kw7Q`6t6_7A-(uWhsb%MiFfTCl#)3DGtEyBjv%^dK}k2VdD`Jw
E29F7#gAAbv|^p74UuHFN4bXEnEYvI*XhE_@=L=442e?9$nm5C`TyuY4aLdW_#@PE*!r|BnItFY!ML-|vopw
3v9mVA}hY>T|C5N_Fu&`b2}=;*o?uiG)sdjrum<yG29Rr@VLQPQ1q>FkAbynd-UV-<D@jBlPXCpV1ELmRWbi
$n*P)@H655FO0ue>~-G
""", """
c-oU-U|<ji;)$FLU=RVsx<Jg$4B>YGu^|xGGC}w|fY=y`-@pjb?<@u3&w%n1r6K$kXnYMOi1`9C3=AM6ESOO
3uYk(;%Ru-R%n<olUI-rm*Y^s-
"""),
    'struct_ops/enable': Packed(80, (38,), ((29, 'places'),), ((43, 'scx_bpf_task_set_dsq_vtime'),), """
c-q^}#K7Rdz`#%`#sCKUlOZ&}GL*j@LbJ0oF#P!c|Ns6%2!9Ju9|w?b1!9oUc1DPJ<>DXz!TN=v`f05m$$cO
2xK9GA9|rapL1>UXBh-9*AT7$k1Qt((st<>Xs{?5bkU31K=I{$a-KBH@tYd#7)La1u2B35PZ-J_t3Z(&su`#
v
""", """
c-muNU|<ji;)$FLVBi77x<Jg$4B=M*u^|xGGC}w&fY=y`4*+i91G4
"""),
    'struct_ops/runnable': Packed(82, (36, 41, 72, 86, 92), ((28, 'places'), (64, 'places'), (79, 'places')), (), """
c-pm6J5Iwu5S?)xI|U-h#FD!d;a3M}frf?_LT?ZUptM|b1P%a^s8d8T1(L5oiIfYZOaw)`W#{7<uMi!UR!?u
|^WM(5@Bq#LAlnB1x&y)TMKBBiR>qhz6+X539g7e4+}l&2+-KvJ;d<@!@A*IcE&lMAXnpmSH-Z$WPz;jLh9P
6Ew_v@*Yu1OBPmuCM=GXovcSu^zyzFq!m=8OQZ#__*4T<jvANhgkYTeA*SkgQE%HJpZATIUGH9u892ZSj3Bm
6RSe|sVGDxYiLJg2epmh9D?PocUrA9{NFBz<Do;`km0aAI*EMc18AH-g3-^Js#<`EYfseN0i_6@xTRHSbFAU
A=5qaWHS>t^N6qzh3PRb?$^S{~dXLAp7WFYTxr$cF;c-e%JQE+Bc!?OOgCY_ZEG~|ED^Sir*>qX@v
""", """
c-muNU|<ji;)$FLVBi46x<Jg$4B;05u^|xGGC}wYfY=y`4*+Z61Dg
"""),
    'struct_ops/quiescent': Packed(84, (37, 39), ((28, 'places'),), (), """
c-q^}#K7Rdz`#%`%m4=b$`E@0G6>Di#=!97|NsB{6CwO9K=m9zx)q2Efp|M3M7(nGkN;r(P;+Rm9?5+l@VHL
`svidSCqZbCJV<IgP`y2n7G+=pizh-ThH$93I*``DVvYneDjybZl|~o9Dn*%CAnpUI1Brm_0ZFt&&A$y*k0G
vj1L6;;xl^Gu0FtONDF
""", """
c-muNU|<ji;)$FLVBi46x<Jg$4B;05u^|xGGC}wYfY=y`4*+Z61Dg
"""),
    'struct_ops/update_idle': Packed(86, (6,), (), ((16, 'scx_bpf_kick_cpu'),), """
c-pHJ;$Q#)Q6_#cT`35r81@T6=yE0o24)}~4x}xBv;;E)3gB0U(3M68j9`7j5PmpNojs7QH-hqk`WeCYFoF5
oq5M_>28RDYumx(~R45Gq5#<eT
""", ""),
    'struct_ops/cgroup_exit': Packed(88, (23,), ((15, 'places'), (30, 'places')), (), """
c-q^}!~h1B!VsEY8A9)02%*^-85lnN|NnmrP#p)5-wMQqK)jt1s&Da!|6qMk{ri_e^|3K9`~d3Pp9tZj>z9D
)hk^Y`5E>*8k`iU$1@jZ3>eLw780>(wI*_jc($9pdpI-<<!`xLZv;oZ8zX<9cCWw2`?FHG#400coKNU&?0I(
P#8U
""", """
c-muNU|=u=;#wvKFt7k(V<bKR8$1D<
"""),
    'struct_ops.s/init': Packed(90, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(94, (8, 29), (), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaTzdwJ5V17vbn;z&E-H
cw-RbjwYUP@908DiG5q>r_Q1_q3^7N75!Ia_eHuU-q^|+0z8J&@iZg=UF9BA!1*(23lm-Ah$17_
""", """
c-muNU|@&`;#wvKFi3#%1!N%n6;S?lMhG7ORCNQX
"""),
}
