# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
38713a30ee40ac1fea3c6918426380936a03ca91ff1ee2058a0e58ddd4be4308.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNxOKc>^bww^MZ}hR`d;rOk?4|_K-Q>(Hxw~3O<dSQOJCca~kRrKQ$?HYCIbB0`rl)(<-LoVmMX`Y-*CdA
^1`Ifekb_P-8py$b;7cxwPd?ayV8AB>)+NZnIRpXnUVXYg-920?8FFT7>htQoSMOi_PhU)trwM;O_ZWYF-XZ
ceeGWdRczbFFKAiF=Imafzdq&LpiaD=@@rY_0Ysgb-&UyHFhPTiE5q!KLU}67vG+2NhSrqdghmTil_JsBfwq
IAclN$m*gmo9*UxoJ%;C&C?kHY&?wZ{z6_Is)U_h;n<`1zFB>&cqE>R|pUd<<*o16-e&7I^&$y#I>#J^p73$
P@Cc1h2}oJ1@SGZviLz{Is^`H{c_hVsy{oe&Z=c!w;u8UC6V)hW2v;ryoK4d4bPAL;G8TPyaF{cn#kl!+RF{
r#MXbpFv{(6&jBT_&?+LOidd{PNu)9+K=KMpNaKI%de*tO~0SwXNt7`w+0shJ|^%+VkIxXCfYyH_WHKgei8Y
`nKL!Tc{gL9lYJI1PxG^Q3EKZYt<L>d&~U{X<jcIk;qz%l%YQ)IBgSib0Y3g~TJcNLLd1Lt|M7GDZ1DBR&~9
1!&_-D}r}ld3oZ_2!J@I^v93p+PT{k|XjXz__nEkD<`^p*C)vce_Wc>M4=8*;+m~@Wu*ZDavE2Vxy@^@9iHo
mdB1|J(wD?V>OUE#B_=eh+GVN5s7Jq>?Sg=LJtcnY6hY&ef5ex5%AKmXxb&d*y7;~#yKk8hn39~;hRFK{@!4
dXv~k&oYL7=Pp?K7O}h{0lMuPQ&<#%g66EjQ?DW-)|WIn#afehVkz#@bREV56)Y1K8a616>uoDf3cu^;pfmk
6l;D9?MT>>FQ7dT>;DtliLmj1;BX$njb>WH{_yYfe-0ntXc_)Xy4mSiv+3yLzST19Y&mae`PHEyYR01RFTub
;JTUX={}A%G(9Xo*KSDbfc>fsMV_|$gY75&BLC43?et`5q`xDuQ!Jo=DIQ~zeeT;1gCjJfD?_nE=_^hpL@Ne
4c41U*Ee&!Et&fmX7WIM`!Bd?`jdbDHmx-k8cK|A(83G)Hn8H{n9j@oyjqxMBvm;UXd=*KgARn7-4cjf#kbF
cGaFZ{l#?WOyTk2D&;*HL>dXnRQ<aIdN9`n`_CUI^!aubn|&k2Sj9*Xa78w%6Zid;Pse*N-*2K9=*L{Ygihs
fELd6r}0eSnQ$OzvMCTSJ`Kj6vX$}cXrm_@pm`B+x7R}+3xy28N<Mp%YH$|Ngf>}G<4!LIbhwFF6!L~pg0*(
G7OG=niN??b26YO<UtURDH+8<4?1WP<|Zf(uU8zCoW`_Q_`T7X<V7}yW;)6*XuX{a&>!`R&i<(1=^@I_Yum5
;+dErtxN2I<;j5h@$Opb?&*P7lBd~VjATL^uq|NEa!9ngh?-K`J`)L|GQSL`!Or2GyAH+FbVIvtW##!Rzy<;
CR@YR-n*pFSl1Bc82wwyTu##<qhUm8-RILv4e`ccwP$tViRFgnPBB1#iKjPhVVrXc~~xj!m0U=D$O;eAL$p8
+|@((wo<D1PRLX;z3ia0F3tLh|v@r^mGCXJhCXQaO5D$QcY*azvwpLs%O}Jxap-UH<`_?Y{=xAoUc(VZJ-2a
JJfM$u8q;MCYV~sUF4R@)e!wIIX>AliyzJ<$0$k+JmIM7KJNBXHT9JKJ4e?{rn_{eS?CEK1P@}dvO{5NK7Bl
m<$s5xdalNCH>q_(h!IWaR$SxmnM0ku#Q5IlqmGmJ`)3P#hS!~ZhnxYM+r<sRt|%aAE)U65Cf(T-8rrxC^Mm
09`zkJjs`S7aoI}GW8Eb@wgSKv!GQYghYM?+Ip>X?tvlQPt@Yg-9FPPyEBFN1&doWqzMr2YJs<Sb@1?_0kWo
KKLO(wWM($iWwdE{=-h`f15BU-kn3w<(`5~+iJM8C5-9#>6F!Or%_4PY9_x!uv%{SiM<8%9I=C~zc5zJa#fv
>C1?wkJZ-p=O6p3jKdb=uAnj4UijbdWB|&+#aPv#s(IKG?4o6Up0K-M2S)_Y8s%3TJ2imYzY8pp_Ap-(&0Uc
bEt)D$>t**!YqM%9mb~0;3<Ovs}-TI-z8`td0goi!6;htlLj=zDB5Fe&}=C$~D26=U=PNTn(`XM)y~YbLgcY
M*WD!Xk((h$X#9O8I%@UP*1V6l#C`Fhv^+YX$5sssGu+mV)ZrISgsW?TL^gr^p)?SYb{a&c6*<KP*Rr(bW5&
hSaFeWbN&Jyi_0%BUn*6Tv0iG0r0BR)npDG;xMG3lrU`;fi$j`uAcTvx76c4$2~=|)9qgZTHn#6*N{?h%CqJ
Nc<c~5+hogcr8;~=t2df1TJnTSk<tH@Ac+b^UbBfd%f&RSvAdSIefuk%*pZBE5pzpe8qISQ-z&*6m-`(1|zH
8_^=ZKIg06qj}IP>gtwe-vfv|xVM7ZY4f$uyhI{QFUwF}pqF0fOgza0*#54IV_v!M*6dag+$hG`B#}Dm$_Z&
Xvnb-23S`37v&i2aY^<85VO6vK$}^JQ0@D=D0a)Yt9nPSUi5&dfmBsQ=7i(xa=EeUb0>=({mQY1b}z3aaIjL
ZQW(hV=EW?=3j}46l-~^9$z|-YnIGESc4#6z9RONXEz#KXE)@k*>tv~X(8z4#ZnW{@NaDGbp4&~`gIYiRl_Z
&%$Fv}SrEtR5k=nA0hGa-XSrQ@xTcK|Oct8XD9F-%>NB;*u!F|#98Lmz8NEkAMDd5$a$JsE55y6~k|DO>yaG
&)w2k-2`H3^9#9Ls_Bz(^K(3X0&&~hUCLD4%zH^$(dq8e;+sTieOz+O)Y)(4tkuhe#5tna>D-~CE`_tKU6{!
14PSw*(w1((yd67?ld@I-Nf!c<Mo+Uz)#_vPcDwY+h<+Li!$W0K;QAWzd=3#PvGODHd2`!L#DiXHG0w!d;2#
SykY1UHN9<uYLG!=~!S{?_{2J~)b9@a1f5nY+Up)6Il&RT@o{=d+pYQZo^dvdk1RJub0EH@+AqwS?hR6KYUT
mK{J#yM>WKl;kukgc;f0c-z0e`<8!mYh(SUzjYftQUEz63pYe+DRvYQe4heyS?r!>++^hUT+{J-%n99ZIqc-
FUUkIyl}nywe-%1BUJ*!%09qg+q9Pp^#!r{^09>S@d;2Z_?)r`Hoo$R8oD1_#fcQ8^K@P?%&1u3yfTP0{x&}
0N<}Z*c7NiL=%VL#r1b6GDSBQFp(k-|=bdq)&QXA{&*y1%X%3keJ4G<W@!Fl|kZftJc@HemD>}oE`*pt|c33
!_ks)L?4mwiU!EPGYqqOrb#bq6atW1&`EQ0Hhtn9>&Ek0#1bZJx0op~_bU%Lu0vN<#?i5fxWi7#34%;#052!
r;O_VzMBxBL47pxySqvC-XJRzeWYk{A4@?WRBc9XzbH0XZfw2Q^`2!5HWFGK2;=h8kFOr1mhX`q!qVgY^#W#
7vSm>btCY2*tD!-*i@$f!3Pf3;+Rv5U{5WVWv0%y!Xl}}0)fhc^kiRXzh}bHwKU0mR`3bkh@}vkHp#?D2Uv4
JAz+oICyKjDmikdvi*Y^sjcm;183$yfvUd5xOa=84N0kX$VL<Lz15IbsFnvJ%BK7067sQ+{PcLhLa<tb_$ox
@&g&i=UXfFe%_)c*MekOziPEs%nDQpPlQ*Kq!jC{QBS~8=7uO{`9N(%>}|JKS??i~#8o`5;GGI1~=u9=5lv+
{B~cdzajurdpu4)P`I3H23@CNCL;VOijsL}!gC2_rc<+$dA*dqH6<CJP#ypa=benVAU78MxE3BW&M?u6wcSx
mjt7Z}1l?dTExi+R~PpS+nZ*K}vH!#p)Hh6|@ET%?la2hu;HH@!z`Bz0<wELUaWt=_mjbKy0f^Dh8C)8V*ut
4M-zltOT=IDvm&3u~{zU9upEsCLu1b)lU|lQgJCv2pcSAGspR|NxmUK=jqBa0YsK8L36Ddh<4I?sLsMsfUqF
b7%oBAgd}nCVR3)8I5ZnT=#liOT?d`TP?xsXN-0KWG)Zj2vJDpApdzvCJjq=vE2x2p;d^@2WNKlkRl91T@wl
`wq8DSVV=H4zRM+^#dXyF?Sd3mePJpQ`;~*yMn=APweLfR}dTBJI8?Z{=CD}MhAZ^j(MA>D8iK4Ule#KPrQu
NBO=G2NJ`koQZ4uet7{7rEf<ygOxKBp3{;QD!9t~APle9QZqT{m2ab%AomC`f}>Q=#Ug+<{a)*s6}qHQVDXO
Tj4JGV>A&Y#t>&t=>yJ_O%-pt}kmQsuEhM%5tl&YODns)l&3?Ix|DKK^>Gx;_*g2ipZT2n*8s})Z_blSiwoJ
RhfoRU+ytEopNPp%%^La)%H%edutm5fxJjZBTE~~KJzMA^iH~OWNr@i2J3$RXZ5Jdin1V?BoJWGmE^222ewp
)MCEcsUWI^^R=Vo%J{~6iu_G$L-jgWWk)P0^#fN|nU_eSZxJlDXqYli;JJnSdZ-*(XGTqwR-Sc;EZf<mU!3|
El=CS}_?eu`vaq*b0a)8&^k7f45tcjGCy3{UF6{*oXa8VL^O#saKtd~rr5MrV>tKjj=CDM!m6Pb%fzJJ<n&u
oDqf>{$|p)X$jnD;uIU$sH*r1}6RnJPZTY|{t?PPtuDTp0!@cu{}iYHstCV2&RM7IY}%r}<O@>#-h6z`oOcr
eKNXYR-N|d;cLts$$-OA}J$wBv7SF_MYuoiy939@nAY;q_pk-|GVVU<2PL@&rUWlCA~}h{<5KD!N{pPQRzR~
@Ctc%9MQZ-lR{^->NGfAcAuTqEJrc%_fAROYshV|r+TI@?WwU!JSBm;sFSI88-!{DRvnT*DHSRQ%Fc^*Xg|$
>Kvn#V>Z1r@Pfe}m4U@Vub>@uN!g_t#ivfX;*OayKOWakFfki3-lMAakm&&g+E4<Iky9}Hbi5&*u{@^qre;d
c4gQn0K2H60e3J=Frwl6KHFqN`$R~LmL^x`N5FO-NvITn;46>{<b^Z??U9I}2b;HyMx?A-0T_vvvRqpvos!)
M9TB#sh87`0wQ7FE9?iYR|<sNb)JB)Y4h_&^mFe`1UtM}{TPyG>YXptJ@(Vf^^Fp&{noaZiL??6EVU8+H)Lt
4_+TbZ=kZy!}SyK@XaQ9gvj+p?`L-c-leLTQiW<{c+z<$Hiz|xO4b)X3GJMfdEf<di(Mjao>5(e|>9bqbqNB
teb?WdOt2{93<>nviis4WF~lq$Kz&Mx3V_#5BCt4>4)a)>YtHyH;)K~fJ)u-W$f`zLsUBX1=eFo3HDSAL6Ur
$W!kk>4|EZ>g5bc7T26aOyIoR4Buy$Z%74RDZ16`*2T>9d_OpjiF>);@!~8(aV^i3j-P@ac{_U;XT_T_R<&W
nA!%Skt)}^=`TRQXjDQVTj5cjDF2hIi2fFYUos|AR0!-A3`tJqY1)ve}Ske8pePhX%f*ENeTDHWnJ;<cKz&Q
M&emBL;JSupf5d`j@q-ZEqokEinZ3Llpy+=&w&^fP}!gxexzbWgY_v&V%sU=oZB(}<Z9XftsmhAm+-qJv<&%
W?oL;@KI_KEVf+gE$5^vmf*ZfEI*&DY4=|qC#0>6o?4Refg8&1d~dlDl()jz7W0MK$y29==urgGwJN-Iq3}Y
lOcS8mgYn<RXzvwzrdwiWB
"""
CODE_10 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 101, 103, 134, 197, 236, 305, 411), ((9, 'places'), (46, 'places'), (61, 'places')), ((121, 'scx_bpf_get_idle_cpumask'), (170, 'scx_bpf_put_idle_cpumask'), (211, 'scx_bpf_get_idle_cpumask'), (300, 'scx_bpf_put_idle_cpumask'), (404, 'scx_bpf_dsq_insert'), (420, 'scx_bpf_dsq_insert_vtime'), (425, 'scx_bpf_pick_idle_cpu'), (429, 'scx_bpf_kick_cpu')), """
c-rk&O=uHA6rM@aWGmIwYHBQqrj^!uu|EppL5q6w(u1ao2qCQ?dXZwK-R?<2L{AnK>JMU4vGE{y2-HJhdr`z
wPa=2`Pdz9i^w8TnZ@xEacDw7(QE(u<yxI3R?|tvh*zH0udz%GXJP5j(_cvQU-sxENh`MF)shAL}p66wy@U0
u_M_U<z4^3jfrVA`*&%sVM=GP;8vy$YSH9wMQ)fTdGznnd|1bYb~&Qn}R_aMFj#9P}c*l!EucZ1I-lF(y2p9
X~Zp=dQ>;{BoHA|CqR>--UpuaBsNd|s}2v_E!YB{VPY9P=vvm5@9wuwTj-rJ`7Yos4MJ-@C1(IIL)o1;0W4^
fk7_d318K@^9)>wQ#PCfPo^?Cr<HxP|w~DT4TSbB;?3HiMGd3D0>t*Dt5u(NF0W$an!3v@_7RF&n5!r<2pL~
7qtQVctz8l_c)$npQi2>@H>xzzF~hZ>lceG--&oKu^}x`YvXgMI6SrE?0ttic45Cq#XA)iXOo|I4lQZD^a1v
B^4&)5CqAhCI454~@6N+n(A!Tzrz@bBUTK<Ac1hDYyQq2l1>5Zn<U56YU*5*`RB%yc_M8o$f!8G0U$xPavS*
iYt_h`-)O`&8g5u+v|ET%-6x*3z);#$^ADqOwgZLXaa{^yXUk~?VzmVha*ZsW9d7ot5P=Dvu(mkqHVSwuykS
Do8wdg-lBR470KLz%i4)H_KN*g;$KCPCPRjbgjFV&*|ME5o56QWzXIj<@&grt0`PYludO31sZL(Sl=%ysN!{
yFMw&!g^k<tf)0xUioACokK+*5@VpamV;vjB~fdaY*!cHHPz3UynD~xmZFyM&y^eJ(?`(_Gmke{*1kKbD+$)
<or}62AI=<^Hv!*26t;X15a~_aOv!Y9h>7cI1J)>A?f!s)^W!JF3;c`vz(tP_RI4rBj0<C_l~*0>^ay?U-@+
&>iH}$bDW58$M_S^%w3AJNj%nkf#+l4mI&{cIxY~$JnI*FO&@)P{)~zLTxh=xGw<g7_#ckIeVDuzA>SGyzbi
sshV<#pn7`jCuXN6TweM>@=UQ?GN5FYP;hg$EmE?JlOoq+_y9D{?^0W@PSTgv{{{|=AXQRyb`seLD=hfgY)B
G(0@4#((><{r?S^ah2{HdK1_e~jnzhm@K-7fm(0p2^!A8_x^tkqTHd}e(;V-fgFMBvkEl;?YWGR`<>-t7<Iy
#GJWX|2uKviCRlSGU}%-&5v&<z_?Y;bOfmjCc1g(+U5(ChEO;ne`_uylXC4xM!l?$)9p(<d8nkCcoe70smM1
{!jCJE1yd7yR+5z?ly971>V0kx%MuX4d1IA&wZvp0ou^*@&
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=9
S0V{-mg$u&}0OfOXL--cFsC)ot&<Yd
"""),
    'struct_ops/dispatch': Packed(59, (4, 6, 42, 88, 131, 137, 146, 163, 165, 176, 178, 187, 195, 228, 235, 237, 265, 276, 286, 306, 308, 317, 325, 352, 354, 372, 374, 392, 394, 444, 446, 465, 479, 481, 493, 495, 514, 516, 534, 536, 554, 593, 597, 616, 631), (), ((29, 'scx_bpf_get_idle_cpumask'), (78, 'scx_bpf_put_idle_cpumask'), (121, 'bpf_iter_num_new'), (123, 'bpf_iter_num_next'), (144, 'scx_bpf_dsq_nr_queued'), (153, 'bpf_iter_num_next'), (157, 'bpf_iter_num_destroy'), (174, 'scx_bpf_dsq_move_to_local'), (218, 'bpf_iter_num_destroy'), (220, 'scx_bpf_dsq_move_to_local'), (231, 'scx_bpf_task_set_slice'), (251, 'bpf_iter_num_new'), (253, 'bpf_iter_num_next'), (284, 'scx_bpf_dsq_nr_queued'), (295, 'bpf_iter_num_next'), (299, 'bpf_iter_num_destroy'), (304, 'scx_bpf_dsq_move_to_local'), (639, 'scx_bpf_dsq_reenq'), (643, 'bpf_iter_num_destroy'), (648, 'bpf_iter_num_new'), (651, 'bpf_iter_num_next'), (656, 'scx_bpf_dsq_move_to_local'), (661, 'bpf_iter_num_destroy'), (666, 'bpf_iter_num_destroy')), """
c-pmCPiS047@v7>|0P<s-Q*=Ps4+>&RzYlH0^%PciS}CmWV3>Yb!|(am$EgOKKCH0)Ie`h{DUWx2(h;w7Lvl
k%f(volA{n09$M(pll0U$Gv9Cay_tRcHl_7Jn4S4%zWM(CzHj0WF!cpXG?ufB9dgEsV!R^eLk=^(A=jMeKcm
q<kyB%Rc>hq%C+{3n^Dl0yd5IIfS*88U;*N~k|EHpt#bj2DJA%I;u}kM@U;W~)qNmwg;J>Hl`6A>7zcR=99G
$NZ)45ASM89@i=q0{-?>}n2(L?K5q36DkbU6cgE|NS;V&ba#eKoINzoW+O9Qa)STg`V!Eg|1)WFKzXXI0yWD
E`(1b?)pWtye}t|J0lZ1sYcz(ns38BtB(J@l~dXK4R^c`(72F{4GblZ$&VXuB_nRe9S#5xvu$${dw`Jz2d7x
*17oPZ#ljaIWH~n^oy{ou!}TJDd(}brG6V^ckPGfI`rNmyZW2t*Ov?PD&qVb<c9^}r>u;dZx9bJ5uYW8{L^M
{ZO;NxwEmvskzAb4Y`Y}Kfw0GW%6})w9-o8H*WiQr^7uXSH}0zslOO#pk|+Na?76{O_dF2%8xGmwn)s_JJt=
Pd4T`JhR&NnshvZ4K9W@WO!}wHuL_A761~po5ATJv(t!uk#x}JONW0Lo$`$oK05&z{L%A4Q^n#;UD9cR~?j^
iIW*+Yc}o5*C;`Of=)R+JIs!3BW>O3rmt&fCHRJc-W`@o9b^Z)eS?#O@v@(fu1_hl$J^O713bFSr8zbMg8QW
h}XLeDv)jf1&3%^mIAl#3<2izYMT5v3OzQt-nS1nMWM^<GTu1J(nEmpS-E&<rMj`n1cLiOWt>BTmya|%#gfU
p_lwszf63x;(mEU8_pxX{pme*PU7@=DMyMF2<AcWhaFQypPfd&%;DZM*tcosahSIsQG7Z5T<6<E>9;N5`J~3
%GEegJ4(frPFS1>=zrhGk{SB&99_muH@PZl_fVTrqI^G{+rXL%69r(7yflH}mziOQI$DyzL3DY>B^!)|;&S`
x~(csq*U!}gmY8O0MwejF8*@4r(bHiaBQ*{@45aJx+b2S_G2eT2JEM_|3Mb*ZOL6RTxd|3<YHdp;YANgT}<e
A{vcwDKPxZ-b;e7X)^;JvXpcw1BveguA6-zLs$`*g;ezY^)8K8sx8%^>T52OsdbII-nz;lZTF9}5rq9}f@eH
Q)dz9B9>pPJQ1D@BsPlrGW<vX1)|1-~r;f4u2ht)4gf-4v*ITR1d|4uKxk*e+w^8G8V0y{ygPT$$gXAe4Hqs
Z^6gykf*ktW}wH1n*ZrG{%!*QJn%1+?^N6Q)DxBO**5;^N0P6<?R@5m%9m^7Fa38^`8@ZKnSCAN4Rtrb`Wo`
6g7qx=Jxy=*)hVm5MttfzF7q+kPX~~vg7{l;(N|-Ce%_R$)mKl2{khRsN7jwL8tdm_f4jfdeb7RN-fN4xe+8
ZuIo@ws%Rf2GKl**dC{Fy<y<_xVb6a&ruGDcZ03P|5&3=32IE}xtKbY>@XHiE~T|vLs#Jg_UCB0g4WY@<jvp
!b(;BPlzx=)dm0PC%OUYvX1*ncbDF5TX>eO4XpBfDsQ(rle2;uZ95^#ktF`T@yb;n^7S#d$p$&um;o9QsrG{
8TbtS?Am2wDMcyu0N;wPbA}6SNWb##;eDcuaJyqUFGXd#;Y#!+59|b$#~~`oEz`(0PAarJN@p?qRwgh3h(fL
0rUkUk@vcRUyw)Vhr|^pa*xit=sl@Op3As3@GG)z;Mb^yUmW=LOgw(sxYP~D@`Dy`)hIvZds+S}aZ0dy*21l
;op5XVf5xp-kBD1iCjJbD_`qZCJt*wO^^1FF2TXhJIA-6OW?tfZI`01&vG0ry=RNim_4Pc&L;2GB9b@=D<9O
%%o7hk5_ttkT`TqcEHuq4j{|B3Y$kq
""", """
c-rG&XJC+GU|`rU!2kvT2+;un
"""),
    'struct_ops/running': Packed(78, (18, 23, 56, 72, 88, 90, 96, 128, 130, 149), ((9, 'places'), (48, 'places'), (63, 'places')), ((140, 'scx_bpf_get_idle_cpumask'), (185, 'scx_bpf_put_idle_cpumask'), (191, 'scx_bpf_kick_cpu')), """
c-oazKWGzS6o20(O{_Fr+VmtAO3{iD5p2>9(m|z8x`@(Pox<5l-NYia$4x2@Ix0fOrWwrW5QszM1Q9xBEM#$
XlR}1W=l8zfyO4|L;0NL5{r!I5@4b8888XM+hV<NPkkg`1pNi@J+)2nXIDnqDh)%*VEGmkfH~Pn>U=R9+E)!
~lLkOIp6(c*6=QUBcXvOPr{kr1#NuxhV=S_uTDjw%8_fRiQw8c2rE&*=^_`9<t_f8@H0`zJ+gFLCzuMiz;*-
it$L&pXe>&X8-)NcsBC6)^DRW%6NzIkVm$Wzc1UE?1l@Ya!gnLnn&ZJ>@rdE>vRGIU+blES^?eAzP;<JF(3t
N-a&Tj5;}p|C4)>tYYyLNDod>?QQU{s0*WjtvWWeqldncwhN!<ov8P<e`;gUO})|{$l)op_PmLY;lwoe^&u=
{2l+o<82j@cdKsdmZWcg#V<;HrKOO!Wb}nK*q>M_()5J}w~p{0!|zMpdKT~PSm3jhg6x;~jsMvW;<~RPUuZv
1puhUd^m$wB49PAFk5ac^KBAk9r|{6=s)^l6Jpzx~%AP3xlP<zI{nei#@`>)n^6n?|H$G4AWuAm5zw!-zJb!
4UW8H@R@}arMf7dh8J}YyT7aXUL@ZDsE--f(b;l2JG^sJt%p03=<MBm$$M4Yx8?I(Dm{c%@#tDO`7tGFJ`<*
xLH`(M?^>;ipi75Ep%;yG?vAO6oWirZEAPHS?nop4Wj<hx|Fwmv3SpW29B>BIk7ULDEjjXYJ7?^pA}8?Bm|#
5^>>Ys7PRC*l`<@S5n$*F`Kqo=a;aeuA*rgSy~<D)}#EP89av@Vk@!?=^9+y(#Z)&~OfUzqBpj<h}Bo;}0;0
QQzm?A7O+CIKE>(q`x0U{sB(-+sO
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNmUob)RC&@z9Geh_`>=3>K8Xo`=`UJQ
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 36, 39, 52, 62, 89, 98, 115, 152, 154, 164), (), ((84, 'scx_bpf_task_set_dsq_vtime'), (102, 'scx_bpf_get_idle_cpumask'), (151, 'scx_bpf_put_idle_cpumask'), (191, 'scx_bpf_task_set_slice')), """
c-nnaziSjx5PolO@AedBW5}M%ft(TXM;hbVXqAwEKm|`Ng!Ld2wb3<_<avz>vGxaoWzG{XO~B%CQwW<fWy*t
VEG#T7)2;K~HxF-@!+~XXX5PG+`M!DTq%hKc3Y{K-zC${bWWR@f-VtJhbXXQS2`hQKGxsOc+CK+dJqw|iKON
UPDG9Nx?Gsg;um3jZReQ_C+iPcyzgCgxYZdk_`WAFPrRm5Mq>Ja&r*0vA3wwpWlCIBvs@p@Oqc^aFifgn-aU
Dt7-=|A5lF<VpZs_?X>J{g;=fi5=@3XC5hNki8K5UQt+7p<rD4+d(!S$-B*Li$kaA+(s-jp-1>$rtFGhAnJ&
(ujI@C*d-N+tJsn(q;aFHCXYGJl`?%6zriu5BA08r<i|-9jD9uS7hZ<@n4unX`j!+;fxppeU`5*qP@3rvL4e
>8r_g<9W=-@id0soB~d&i#-YCBR+ote9D!{bMbx!5`(B$?Eeg$Bks2)?_sVN``Lf-spb3W97R9rJNO6uZaVe
7%+6gh_D}407j^rR^Xo%nd$e~4glOU+zbvjzoX3ytT!^UNp~=5~8GbvDdY!i|-s=wDO-N0(NX+ac5#!$|oY&
{Bkm!G{?YVX4Gvd1bggWjRkGfl*#GECG#{7~*|7(3|EdMI$V;A}T5H6a@mRA#t21np-c_`u(ItBiE%%9z}Gy
7(Le|%uO58l-m@V3*eV{cvXSG><(viE||QS+|UeI<<VXm*!*#6wLVa^8l>?O`B)W%m7IZ@{POVLpGAaqTh=b
ncMm9XP;alfKyO^N{xodv+?`#k~&jDU0vf_<Ks6{2mW@u8*w$0xgfztN
""", """
c-rG&U|^5}Vm4+5Fi3#%lVl<M2~d86JcPdhjo-lp;oGo7_&cEd&595{01nLtRs
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
    'struct_ops/update_idle': Packed(90, (4, 13, 34, 75, 111, 157, 182, 199, 261), (), ((21, 'scx_bpf_get_idle_cpumask'), (70, 'scx_bpf_put_idle_cpumask'), (186, 'scx_bpf_get_idle_cpumask'), (235, 'scx_bpf_put_idle_cpumask'), (265, 'scx_bpf_kick_cpu')), """
c-rk$&ubG=5Pq9YHXEs=MjO{aDW&2sl%j%&7yBQm(CA5)Aeh=qD2VB@Cx!a!=0WI5j1}__1cI2df(SYGSjfe
jUW9t<$#v$<_e^$8)r&VDgvq=&^WMxi-+n<^=@s1)d&5>Lwv;+fc9ncDqY^8;v>mf8o)bSf;EJ8=?`K=JTH2
qozaze{<2@^RPte9ahw*+5?^E1mvR%5CQyQM^uT4^2w8DK~bY7<*`}w?5Tl8|%QOe<bN5|RW@|KRPlW%h!%b
&F0c5%<s9qo4=xhJPCsBv``Yo<>*2{v|h-j%bm@6Y1=LDG*(Vw)N1!=oaqv@}MveBd{eis!iVwD><;6W63mc
oaU~Esl97%lqaYiZ9aAv9$b=eTx?VXFETVf069ON#IJj@MNpbLAAjBwFGxFhu$;v{aSDiUdfy{OVL;ygO`~1
r1)L%s$+|-XJt+_PCZXAm&C!#C+p6sL(=~$@L0k-_r*?GpJl$NBdo~Wf(_}T2);)x^h<HO)K@1XeXr4PMfW8
<30lIR>Ds&4)XzBN)LZRmsd&aIkNm033*aXC(?_Kcu7~qHC&ja4sDEi&c!WM87w0E%{#Yf>gWH01TX-M)HPi
oB{ceQs`w`wV=Xum&&iVV%Jatn%eF&Z+&&2!JQ@p&E{9Z=y)x0e4!AtDV-y6m=4}0MG1n%oW2NqrE1L|#{zC
}xPt9L~Fy9LpMdO>*QxhcHYQRf}8gLTi+^LhgOv0p9tf|o0`8-5LOejktGKOi1n)q1iSiw@qDd;*CTGMF`a3
*e=EH^1l~bfbaqGd#8PS30_vP8vOILJwIdiSIK;7mbb@zP7=Su#(ov)BkmHtWFkwuaj?*I(ep45nk7ZdT42U
%YV?dZ~sWwKBjc-Lp)lSXD8=9nCt(nJ2TR62j|aWe*lrLI?w
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
c-muNU|>iGVhv^nFi3#%MWOr^Q2rGz2p<4QR0Cf
"""),
}
