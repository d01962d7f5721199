# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
33b169fb3aac8cb4a214568f3e935282b54e64618d5d74838803813601d3a433.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNyO>89DS<fCP8M3ovML<dd3+1fhRQ0rb+V;$_vBw@}J-r)ie(be9%r1keEqA@Pi>|Kft*Rc|yF;`f#2yk
UTyjHz5E2rH9N>}zh?U^N0S=sqgan+B!X*-iNJt32@BP&Ksj9Xe(lcH4`u%+G`~SZ8Rr!zpbB26@@X!8B{QK
<{B0sZN;4;J8Gjnip%Ae#4n*iTAG3Qg}yb{KzRohrYUQu(d!sUy+ef6i{@?`-F`+r4)1?Z8kn0E~>U#r;@+H
=@`Q{he?2>cM%Q}})cz8}H&8GJtr-%r#Yb41(kl?L2@UQU3YuZX=qSF=|g%%6qJsD?hk_2pTC*XQB;yS(q(&
nX};OIZnCm9o1k?#Q=*6Mc17+w)6siDuZmIoxkDqiFbT+(hv2;~7pP&iN*^e*y0A!S@fL{i?w2&!GKFf@gm|
Blr&Y@4|N;`)4?O_&<k){|z)=5_|nE$8BcT5I>pyMb-Z7@4)4s#CoLbUuP73Kb+z6{er+-!bN~D2^x@a$=9D
2?T@s*zN)ofLmqNQ&CGB<&e<}v<#KD5%jGN3{)btm1OE&SSFAz4v;+?SGOK9$A+$YWd}go1<wvuMUy>Fg=1c
h3u5j7l=VzeZwrpb&_2P=!>nm3j-^AzTS8H_gil7faOG>YeJ2sc$@`Gy%{*SIz;2S)<Wx+%kvkh}eb#Co=9s
YCL_!ljEu<!c1PhDbN-TGP09$!6Y9%-=GX?phU&vQN7)W*+S|Jpftyw*T(6TVk3f$#RK9N$L`<6B?m<J*_S$
A<IoU*&N28pi+9<>OBp##cQ){<LBIPg;EZ-G=dxuk-O|4dbsZ^6`U)@mP%e4ddSv<3Ypt4{q@BevKYpwe)Nn
AK&Y8I7iSv?W(x>d(i$(vF4l59tuD6oi2}Cxc(2IJr*(Gk2#!A<3`^V!TGQF{b~%Czv~*YPKM;!MDzJ6T>id
m_~CM1YQ^AG5H)AfxCjmka)-H3{)dotXcuCz2knW#dkfkp!uWTVIln%E1m#zueM)#@@awV-z(UyuhnztB1Lj
2m9<*N&9>_mfRzCV$%Sr~{SyplAPnS7=e;?X^v8?<%@><5N?=73Wes0DsgLdry>t%-S-0RT(M{VElYx|<E%l
P+il3w`!hnx>w{x3Nn+W#%uAI+HiUKRV|{eNK&uxzet#h4v!-_Nb6eZQ~mEAhd7XJ*yD`d(*ZFNE_Y4rdN!;
I62>IxA|go7!GqTTy%6Ur~EKUQv5JTTwIyD_p*xSU7wrm1?#&hr4k5W1dTYhFzniAijTZclX}A{@&KF_5A&J
cY3~0CNOaOreBarl1E1g4V^emj#&4~vfhmVinB2#qu|u1Ns&b~CqsHho(J)Sl5rgLp@Sx2Zi3?Q`o$^9X-xZ
t-ycs%UStz!rsMpE*4w!O{ZYT@9F7N_KBDZrvGb<Cv%CG4tERObzS=2*eCUgI3xBj7fwdC{dC_(xZO$MLj&j
fWkT~!;Ow-tjaz6@V>a071AkOI;8_8%f$r2~;pZb7-ueS8VLG1D!IAjK}?JNi|-Wrko(vTv>aYlpCkCH)3*a
|X^LNbbuvY?34#1Er9IE-mXV2j)z7a6dK!0zxprlHS39cAfcj1v@B^W!ut#2gSrRGg7~GV<vu?fcmTI!08Eo
)&V(35|}9VO1RUDGBrU{pW0+{|0b_)Kd(?e1AegwwknLmmwR`IZZHCQFK>-S!X&<Timb-U)<>Dd8aSh!(?$I
3fG9vm^>$Z*v}`2`B@J81_c#;j4*9>cNPATm_Da587A;^2{brM2DzW4ArKYf42D%dP4Yrv9fhDNQRt@wrUu@
cHHj%*YnY@b2~0#*j)Jitr|A$71E!AL1#TdyGoe@>4IDR)hBQ8N*-Fo2-6cG>0>Bl)koxS03u~PP=dIoCCp-
S5dwUN!APH<<@CmS8Sa9ZjKR-+QKG>(<Pe<b*qkfQtetr^+-Gy>$+v$Scgq}1H`4JPCng9~{F{}?e?B`nDM6
O^k^M3Emdruzj`%imYZ+(5A&mE+h<CcU)Fsr);w>!?>*ZsZy-L1`ipAog^EILata{anQ2kDahoQy+|ZIz#JV
ZYi;B_D71-r3sQHwZ!~oSpSsdIm*;Rz_I<jIBH9Fcs)3(l04&{78ZFrFW&m=mK?C>seB#l+2cuXkfI+(zwIA
{UqmWgc;_?KKHHM5}X#ltvd@f#2OeKtQm6Xr=UiIh{ot$qP)mm-RK#VHhNG`v9#2TCL4$89X@FdZBm$^a13J
gUD;TzRWMr#c?0Z~@1a{QQUZSakb+WDmnn2xu4h<rm0#ri1v<K`w^vt6(`2ldRv{@m?UXLn2qmsq;JImnAk*
TQW*#VEx7LGz<1K+|!J~uy3(n@w6V2$63`_DuO2_^<qjWSbDDwe1vwHAa0Kvl!j8;JUS(=0{i=|z_W*x5|>U
g)@=V=T<3L<1lbIX&ug5m0!iPJ%cZKYEs^aAFMfFP&EuIpuVJ)#ARoxYgh3i04rRM5;%Af_es#9e^KA<c5;s
FZO$-QK;wC)S)CBc`s)X9}a#fSeX36wmMrmPIk~<gh-WLG~;<00O^p7y+J%8?})V&6q9Gp-(G4oYxYVEI5d!
Cbe>_lQh#D3gSD?(nIPqp<_^@vAckiz?z~DD2Nb$cx}h!8}~sJAQHyZ>(1*=%ZWTw^(Lk6xo+hA22-vZ&h48
Xb9m0ihO+{<J9iwHi}LnLEp<A!ctdR(@np+$UYw&TF%6za$q}&9zzyN3y)eEd&h>Q%Y$SJu41n`&Q@Bsx;xH
)s$FPBhJj?7V@EHGuz98g9P7g9-35L6;x2(^ThYz*sAYOq`_jJYjz)TOM;7WMQjk9V1YU^%#9$VQRnEy&lbl
EaR<4aq(X36{qYY^nE+jVvoQn1eSOj(5p7Q!~i6U#P7%6)2{jbXr;y{LY>T%32f?*YHff3Nc2M&=|l@%|*sA
Wao^i;h9`uqfer&icBh&e*p`n%oG{=_KhmfYg-OK7~~L1F2&VY2pWjgq6|>W6rU;z1#D5d-v{(Q$jVz2ZPf{
#h`L?imwdfI6a}LBX!W_aiQ5>4=4GV;l`xp3c$>Gg^3vky<j9l)z3FBYVQ|wog7)TU=%(gz2IET+|A6F^?J&
-UTC(xR@=Q?-+i;b`}O+nrQ7xWE6awhAj|WDo9d#n_9f4=g2Ew%shX!*WIjtJfP5Sr7jK;Jxk`Y%G0k_CAkT
AN7EFEVkKw=g+KV_a`8fn$!uGdsV$6f>k0H}T_HrFC_F+@?jQ`QScYH`$_P{N%u~i=OO=Sw|*VqRn=^QZgi;
|pXg)q;(&3F9!dvE&>w>R%S^tT^FlnjbCPbWp`K%gm3XafqEv$I*6@t~hSbItt9W1;(??J%|&L0e-FjdRNF0
Zhp}(=a+~*@jb1_pd18DXpMOoUsHQB5~HqVP{a6^#E$fhTh}1{ipXH^q%Zs+U4A6IRTR7oCG;!Fli2f0gr|!
$0>9TY3{UckSZ3W2{Fr~l(`tM?3CU+>JLlz?egqex=>7jP3g168<-N;N_&XF5Dw1cvVO3&`M}@0|FGw&uw?8
>?8OA4!Wh+6FRhe)Mr}p*s@hg#2@Fe9Qb{YvK2(<$KVKMWe3_`0nY<=Tn6bEl;n5!laFVUp*?e;7TBk^DUG+
TK5t?HG7m0z<sS;#an!C_>MlKR3y@b*bPMkQ^Rh|bSc&7VpiM(v83DzFPA=1IRs%`3aQ6JZYrw0H68$oG>&G
2>kc>v?8$Jbo$$i(Xjmp{YQ)tijG<)YOEJ8WwOs~0aEEGe_V7{Q)eNrpKz+mnmh2-dmOVP3CU2@mC&aCA?SW
In4~hHfMd!R1tWzSjXNSq`GC7Mm$2ORJ0~_`w0yScm13N&@vNT$Mnrb|v?#fu^%yls>0^k@|7k4`NPNc|Nv{
c%26T!yXgx*j7CTti&~|F?X%%j9tNLGJQTB#3QRp^>wbMSQ><3S>~MPa+;63(=*Ys(DE!OY`tcATNCtPP_R%
OVNnZrT6N@6*L9bx@tvL5`3AqGLVU9rYYUvERMpArD5bfdVhs}`2bvPzc{xiD;`^YN{@YJ_PkQ&)NUZ^pMr2
s=tXo=+*ix}ZF64m>&T>quE`Q20UErlYQ<xAoIEQ8~@nsFwAm$DO^y#iFn?TCM&P=XVg3_d;XSgiS0tnY-_R
pn$S4f|WoTbavvfg|E89~ygb_IJLb2z%VQEDDCqe;sWmZY<+1C^g0l#|@GlIa?Vcy3HjnmiB;wQE;hZxolOB
@}Q#%v{@m+M+JXC)T6Xonqzvbdms5+lC;f+lVSBh%m<#p<Wve?FOup_enNM5;*7T>6`2_vNzG${AA2D%To2q
Lgu-(V9cq<G&>H)IfxB*IF52Gd|@X2V<dtHnlCoozV+zql7U}?SMzLvk8-D9i8|{#GI#ALv8v~KB^*zI&7-8
RRqAQSepHH&9ByeYs*+8pX9DfIdcPKbs}B*TJRx8RH<*J`Nfa;Smi=@DhodpN>G$M`;5{i~#ll*Xsh*E`zKq
$3OsB<$z+XL~=DjSZUe%%TgzSuaT`g-;$4@@E;dGe~2IT#dASztJtIL(^m22h3R91E`QYe~Ql0Pu31?N2UKq
r%T5D6^k0dWGK#w<b{L#s8mi#%Rn?vlM*KpKyrs^(fb)w7je^?W+@NL#{_f-hI^?Dl$(b}&=Ri*!7;TwmE|z
Of;Cr@a=y@({_=|F<u!JDFucGR^uSdMh`v#<G>AIwUI3Fy#|VR^Ya}>K{>FBtf-PUclayDB7oF^ME`RI)DL}
z`;$MZmD`@mBrgp$|`Y>w)gh^y@y+yy*<#vsZXOV0QeB=h?TifOm{fIyX?m*`(f6l%CKCzQc;<zak5|w5_-)
Eh4WcIo|kqF2hn*2k3Rz@%@{D1StirmqOFm_jjdm>(yjZ8bE@+{sRDh;5t!;VrN;x%6803UbUq@}l?$uMZRu
z^s9Hp))n2eTpbkb@C9rTVaDSbDZH}fEN{<6jY0!A^%ab?+-xQoVqaYiiqTIOnlXWR*{_GrKCn+m!Li#m;iL
9;(+i5Yn;jF_|ST931J7z{qtzV{0d(Bt1SdaCl7WSQ=jtW6pS={B{TRFI(0ar37ph!G9vr42@nndUMMDa2lw
{3a81t7h5w)VFkzs1Ul^MYWSgdNa~BQSmG80=iXiiqsJ+<R~}9s-P%IaZ^Vv-p#L&!^1kn_l>tpB`08dY5=D
wxJHk$f>5uGDBv=Yvlb&MDspP3Z2oa)8KU3eR)>1Duju@!mPfwT|@5L`K53xU*xOA8*G@J>168N2BF%3^#Fi
BI}cUX#N=fs^xDx|pKBF@4$pk~40igXflhhwTC0h8EOb_q{faYV=v#Ry`p@Ddg}9uEycykRaZH^&040HpFHa
NQKdTdlSAQ&71f2w+coL3jo}*jlTtwH8y(3Um>@8C8<p>(zdQFo!N(|9xy@q5|zabdpFdG^SY9Wd4Dkwfsg~
i`(rKgc$7kak|OAVB^(HE|O-wk~+-!ABjtdqSUE5v8#!Mrl6e0}fneQ=(YSJE^Gs#T@SUU4i^k1sMv7!D@`K
b;ig2^|0MJ@U2#sSM<}A}O$6ghJeR-|*ku-relUhm6+q^r-p<g`{zqu(w|8U*wgQk4wDBJI}h6y|pg(x~b`v
TXm1iBI`XdL?{GQ>fVH9FQOZ&(#dbI9z#p8r|JtN`83P4r>A`|KG+H(Hs*<oOWH$DHAK>+qNDsbOvMI&34Rz
QAz?rJ_`WqaYck4@)I2tYJvxT4>_6Uq+#~WY6!;$!0K-gT#MY&{8(TUpyp~Tzl^Wtc73ILWpc*hF%Uo&!V%)
Hxq{zb)<nlR5dL0DL3D2AIHXuef-MaXa(kLn;Uc1Ti4CBR`KJ0ar1tT95iUj`zp-dvg%k(_sz(4LFJggCZ_F
++jh%*H#^JBu*nf+OV226sHi3>5aYHcQN#IPkyPjnD$cUc01Mf{M8v(NAkDS|krAw;wO5YU1oD23agAXZvLR
H8|Y$|zxV0RG1;1mhf0rASf+KcW}f2#dJ{k7$H5n{*EIoOFiy*$8f6t~rsMmG6)JAEso>qW
"""
CODE_11 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 102, 138, 166, 290, 318, 423), ((9, 'places'), (46, 'places'), (61, 'places')), ((115, 'scx_bpf_get_idle_cpumask'), (123, 'bpf_iter_num_new'), (125, 'bpf_iter_num_next'), (221, 'bpf_iter_num_next'), (226, 'bpf_iter_num_destroy'), (228, 'scx_bpf_put_idle_cpumask'), (265, 'scx_bpf_get_idle_cpumask'), (272, 'bpf_iter_num_new'), (274, 'bpf_iter_num_next'), (392, 'bpf_iter_num_next'), (397, 'bpf_iter_num_destroy'), (399, 'scx_bpf_put_idle_cpumask'), (416, 'scx_bpf_dsq_insert'), (484, 'scx_bpf_dsq_insert_vtime'), (489, 'scx_bpf_pick_idle_cpu'), (493, 'scx_bpf_kick_cpu')), """
c-rk(O>7%Q6rR~^yj#@DZpx-^B$S$>x^SS4TNT8ChJpm@#X_nZabdf1Bts8Gg@`ctR73!Af&(hYI4((qD%69
ea<H_yfO^c)sF#Y9Z?sYmxh*^MzOi@KUX$J#$$FldH}C&_Gb?798lvbD4PGaD6zfM_W8R$Gk0cE@Y3^8z?MG
2m<jffB@lP&!j5em(1x4?JPqax+(K63Tc^h2vA5!ycc0oxfPMLh-e2?VWj4eyME}tR$Dr9f>c?P|QiT@><*X
$gfgPeyI#-7BqV{3b#D7)mG&i^x*UxIz-B;~|k<4+^GUcd5qY+S-N=CS>c$HeJA^vZb2Pz0MK$72Pxf7;5iH
)C3c-t_r=333p}W@&>zOMW^Q`Q<SZ5J1jVtf$Y3V??{qdzBNP_G8wjM2TgpqhOKpaSe6QVU({jhd<M%{Gy%m
4|#0b50n7$&OJrvFTkGQoT4Fxi_I?*{R8?!oDTwBzq=~F;(fBq<F`m|i`Jz-5tn?wQ$CN=xw6C97vti86Lxr
eN0hwjHO0}qvZ2m5-`FAg$~~gr|3LJ{&x*=Ak|&4#^_^N@kNt_$7B!#iksUk8r%QFzq4r?mEutOdtrLgeO`O
;Jdfv%F&zFx-XCKlztcw=;y&Bskm+EtSQ93@Cl${T#FJMRgMxXjQBR&D-FU8c6c7H_kMr^FCm^|zh$9qSTIH
B>Ti~KEf;umd-OCI$Ywh$jq^)BP#qRyoWL5uvj3%rvsAmgzb(|P3|`LlxkZS4CE*uT{ui&y!tV0Y;xPvTm20
qZY5BKu%x^%Ue!K|bQ+zXm@(CAwy@0q)h}p|C3+eg$=2Hu+`WoR5e6FR6bSavZ`H|6SOt&&`;6269WIcF2~@
V=lI-ZnQuC+u-BS^A_~Lf6ccx1v!|@I?2aF@y5f4J$_=J$3y;?^epzz9vj*v5$5pAL-}fcakL&}zv%j}v0tg
48k6}%t7r6~Xi;DOc7h7Cdjj#;qCOTo)YoE@`dqZB@5LR$flqEf9pJ7kfzV-t`%vCcVI6UsP|sGPo;$dIUT6
SU(JvqWvOm!doxfMTzX$pybmnI#_mQ?w>lZE3)12$2@Txx+ubvsFI9-T!jWd`xfkz(ujE!4Q<Cn(qQT*C9<Z
3;c_=S8eIlwOg{5k~u`cc25GVtqj;8!k%U-g6GmuUA5ez8Sz(|Z0(&WL}o+y4gly6*Ef#qBO|!M1>x7Vxr7@
mr~w?>UWcVutW=1n(~Dec&Q+-3RV?{DZOhRK+|jnRrtzjpCV|!S8197c%%yX7KYQPGbFA%k)FWU)A-@0r5N~
Px2XfUP<BXg8BYS`=6hgjI&wzy6jNj4DhwA-wS)uM7#v9)Y$FGe67BTs|UnSu}%87<U`t$_c`@z7w@yv{5|z
<)AgIG^W8yyQE%bbCf;;!rrxv2*9y+9A}$Sw`Zo(F9+s~2MfKf47qFN6D@y8J18!G?(Y#q1b!cbQp_}ACHM|
E4iM|ULQuVy>e?6<ZLB2HZPqRBlp2BsrK9*d3@3{`XI|{~km*)GE(f3c655LQJ@?Jx|`~><hnkip*
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=A
7fgQs4=Y{YYI3WCqP`(8}Djxtrk_nv
"""),
    'struct_ops/dispatch': Packed(68, (5, 7, 53, 81, 155, 184, 190, 199, 216, 218, 230, 232, 237, 271, 278, 280, 307, 317, 327, 346, 348, 354, 382, 384, 402, 404, 422, 424, 474, 476, 495, 509, 511, 523, 525, 544, 546, 564, 566, 584, 623, 627, 646, 661), (), ((31, 'scx_bpf_get_idle_cpumask'), (39, 'bpf_iter_num_new'), (41, 'bpf_iter_num_next'), (136, 'bpf_iter_num_next'), (140, 'bpf_iter_num_destroy'), (142, 'scx_bpf_put_idle_cpumask'), (174, 'bpf_iter_num_new'), (176, 'bpf_iter_num_next'), (197, 'scx_bpf_dsq_nr_queued'), (206, 'bpf_iter_num_next'), (210, 'bpf_iter_num_destroy'), (227, 'scx_bpf_dsq_move_to_local'), (261, 'bpf_iter_num_destroy'), (263, 'scx_bpf_dsq_move_to_local'), (274, 'scx_bpf_task_set_slice'), (295, 'bpf_iter_num_new'), (297, 'bpf_iter_num_next'), (325, 'scx_bpf_dsq_nr_queued'), (335, 'bpf_iter_num_next'), (339, 'bpf_iter_num_destroy'), (344, 'scx_bpf_dsq_move_to_local'), (669, 'scx_bpf_dsq_reenq'), (673, 'bpf_iter_num_destroy'), (678, 'bpf_iter_num_new'), (681, 'bpf_iter_num_next'), (686, 'scx_bpf_dsq_move_to_local'), (691, 'bpf_iter_num_destroy'), (696, 'bpf_iter_num_destroy')), """
c-pmCO=w(I6u$Sp`K^{|Cw<8zi0LFTQ@d#!tJNZ;CW0bDEX{Plg=3n8h?_7Wm_BDADQMUA7rJs9F{z5U2&BT
mWTOTI$uba-EL^yBC0%vA_nz;*dH21UHz}<T+B^5}+;h%7-*?W9n`P>&p5AWCwlPZmQi8E2XRILF>!P2tnep
W;v!A&}t$RF0@&@jayk}@U8E0(!sF=^o{~2>Qt#e22seUQO*tlp5qCG3+P13%boZ9`K4fSga{i=iZ?G1H~o8
MJ(s_*YLN&X6*EA-q|=VJZ9Pip?-W5Pc1RgWByo*U3psP&H+-%L}#u}bYG?A;W8Ncr~bdEMVkQr}_k(0cUU8
vF}?mn^ckdU{ulFAKYbtJ&<pj_T|4XFvQ~^>aMn?-^=m60Q4^M>XD~{(?|aURehExqW*_4gU??S90r+GskJY
yGH)V^uYca{37P>OZzO?FaA~J`8Cq_hhAD2OOPLyMLVeMCi@mKzmECx0`&Tp?kf~eH!z<+sWf)iNZ+Y*7#}(
y{h;U6Fyz~iU!i{a0_<3#c14`S5zj^O$uZfM$7p`AV6M-JczjNL^0#cu6ObdEEmbbR27UFuta*+nHy_p`Cik
H~vrhM{?I|PvS2)gj1?Rwiy>7*Z9Q0+JWW=Y|imwcP%D#CnKKWa=XE1-Jr={16qJ8q&mVDK}5RM0l6CL+O_F
Xe--mM)NxN~cS!yo%8AnX0K?~kwY7Tq`DrT!9)FQ*9~)!P(L(`kzL`lp(|$bSnK#c>EP@PElB+->20su$^;M
ck9yL-AHdJUO=Q*&}DxEz*Bq$a_oLyAFGkz=u%sk{qvudE=6wH!3D?IP5anahv?Kl|o#AKT1i`yWvv5kS3lC
*?CLz@YkGpP=x{;O(fL*&g+R^2f-Kff}h*z`74VPemcp?k(~Mm?fIh>FMl<o=H0vGhtb42rFR{C(YOx#Q|;}
~B?5YVqVIK&+H0^A_d9QM$^&_t58B(yUMBs7T)8uJUVyjUHR7`j;;Fhs`K=?r4ewB16Z3N_-spga7mu*lrul
K`?cSlhSH-&h7xcJ^10DBn_FakxE9vFY2hz{L*&=u)&fefr_agU=`}}j2eXrJUGQyKvyVvyR_nGWT)lLI%y;
i)v--ZHtRFBtS5Au`b<H$NBtNjXl?JG?CSK0dw?48i|e$ImV-@x%|7aXq!alFhme&vrv#A_?>Qoek2Tsua6@
)6>;#Od53KMvd{4~2X84(X-y)I3jjz<(kd|B$Ec?9Ky!9+C&%<OUCfaQZrL7Y{)_J$xeGs};g$A=$z2ILAE!
oC1eV3^<)M<F^1Dk8Av{0jI$2exCdjXRngq?@~UCrRm;uUTYw)c{m<nUK}gGOj3LoZQ>`t9Lq1~Gsv+!;3po
i_j%}jMaw@Ml5a=I&z#48Prp;4{jtZY-%}y^@rTmyL}-8FvFeu!$(Q$cSp6KkN%b4z$*~Z3h$o#VZX)h=-I7
EdtmnPDHx{US!Gk&<O8ofi-3Ih2kF@GR%Xf}`r}@u``SPEvvyFPxH*VCS7@vdxgLP>AOKPX_F1^Z#-x_$o6g
b|g$-w=j0{4>xZ!n4zcXdbMzsPNm|K&&(`x@W_cgd_H2ai$v3;UhvdUPB-uXrDPSf54xYLi`F90l{%n3=b9z
3$iz?;R^=bltDtIs0PYWn=x%?fnwu#lU-BzaP9j)wAQh7rFA)Ef&dFu-D7e_Tlohl&|<~2zaqBM)O&a7j-=}
ruUCU^HpGfNY4PiHSf9;TK;G>pLNym>1e)sWc{+yeAZRJBhh@-MZcgt$D)K?25ubAjdyY*Z~mP}zgLsUb9#P
-cX+oWj}K;B`QG5KVe|bfdByUbqjBdyC+5Ssj9Y`heB%ax<pcc1!C(FD`76jv-FPh17vQZ5;Zwdl<*y<qfK`
(L-n!9=x6c31ymjg!d27hzpS~79@HXe}XSdtcciU6Fra!kVvrddNC$b)G_xG;0b$^Hb4ts*$J-o$-@&)u8+S
a>?<Nfh(Wc{n(L0_=wIy%m#9?0?k0A}g_!T
""", """
c-l+gU|^79U|^^O5kLR{3_bxC
"""),
    'struct_ops/running': Packed(78, (18, 23, 56, 72, 88, 90, 96, 127, 155, 187, 277, 307), ((9, 'places'), (48, 'places'), (63, 'places')), ((139, 'scx_bpf_get_idle_cpumask'), (149, 'bpf_iter_num_new'), (151, 'bpf_iter_num_next'), (242, 'bpf_iter_num_next'), (248, 'bpf_iter_num_destroy'), (250, 'scx_bpf_put_idle_cpumask'), (262, 'bpf_iter_num_new'), (264, 'bpf_iter_num_next'), (301, 'bpf_iter_num_next'), (306, 'bpf_iter_num_destroy'), (313, 'scx_bpf_get_idle_cpumask'), (319, 'bpf_iter_num_new'), (324, 'bpf_iter_num_next'), (406, 'scx_bpf_kick_cpu'), (409, 'bpf_iter_num_destroy'), (411, 'scx_bpf_put_idle_cpumask'), (415, 'scx_bpf_kick_cpu')), """
c-oa#L2MgE6rEW+wu2gN8rQ+CK&~mog-aT@syG2{B@SGo3QVP57B@jgy;La`$+D+b3P{}P0SOT|66pa@4wl@
5k$XZt<`^lLh!Zzji9>J8%)B@D&c<8lNY?kC`Sa(`|L?!qa9)_v?m&j^cOj2cKVEY5=+yIA%i#m)MNf$5aU5
5raK@(k>8arc^lQpZtR^Y~hEw8#k$vt9x8b+yxqh_&EvfCNjs9tV)_ADqT)Xi6KK$i{Sk-Y}K8tvph<|WG@Z
4jte-nBuU%)>4IcN&;Ovzpz@mIt%6PMPp|L>9hKI1#5rG$M;{uAr@m5-iI%+qk2x{CklguL~6uFjuMMY{_>6
)|hp7i2-ar({Fo+;qPDIpO3rn%j~uQ?H)Hy($8Z+qC<H^TSQ(jVU2ECe*?I7;?xsu6fuOl^@QSykB@^<m)HA
Q66?@bY79*aOtsGkIK6<c3sa@r03qN44J-1Ry^Tq75lDi8NUtI?TGyu+BbJ4_MJ0&?K0*+_i{p|FE(*2i|_{
4Bkmh~19?ZmN+WBy0==W`^-+BfdA4;vxU_|Hmzd`w@^$Mr^GLr3ONZhE9Z&f)6Ia0bO0HpajX%9&?RV5+I?e
;-_o`!Gmy`15UnOpcr>On}^_tr=vf`aGJEH544IZQKc4K?4wixrnBQw7_i}Ryb_Rt3piN6wXAANlYKR5T$Pt
&~bUC18e=&5^@68`ME)q4frOI(LN^>kl^UBqqsBYNkFbMDH`zl`2461Peg6a3XFp?+Z(`+UX`&hO7SxFkOg)
}XIS?%PHleByT4Wj-YOQQx=3K3p^BATPhX3cGv}_r0TJ&8#DTx46E;_28??_xJBH-uh{o<lAN9E_~w<aWTH-
6pn&6^xz`nzX7>UJnKGcsbM%(ji8D3+Jb9eRk%N|hW@W*z`j~9fbW728SjG2Blet;-}=!wG=uom+dre8_CCQ
C+DV>sNjQCH?bdVjli(L$4P&cDz<7ehx>Q5|*K(2Ti{)`#`b9nV_SnDCFCN8#?hA|SmiRRm2^`pZXW56{J*V
%&F8c7dlK|%6B=)^_AM%gFkCZ>*o!+6}BHyXC|LDUtw-5WHK77mJ>1xrfceUi^vpVhOukDTB4c&ho5B-zP(}
xaE>ikOL%)uk;Uu(L&8hkmflfeaf*SB^HV|?ZlxD3eii}%Otx~~5G<o+JzjeXP-f5tDetCmvyb$1u?0eI~9_
7^y(;nrbTn2f8eI`+wb{>F>(SP^(2EI&p+fIloxruojkd;gd3ES@@c|2_A6#`0BI2j2$l+re$SPQGN_@*erp
BVTTlFS)+M^?*E5k?gM&-z-xf)?NNst{>&6e1?4~!+tiy{&a@DO!6M*zhzzRJ#>BzemocdNq&=w?}6IV_`OK
>>4-Paq<FKQ;?30kZN0L1Gm9@*i}+p|@g;F>ab>@oMmW#FsqHVTPl+7ge|)d>+2^D02lm(Zl>Y+KUF`+
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNmUob)R%g963Geh_`>=3>K8Xo`$SOjz
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 37, 39, 52, 62, 90, 140, 220, 243, 294, 309, 315, 317, 330), (), ((84, 'scx_bpf_task_set_dsq_vtime'), (97, 'scx_bpf_get_idle_cpumask'), (105, 'bpf_iter_num_new'), (107, 'bpf_iter_num_next'), (195, 'bpf_iter_num_next'), (200, 'bpf_iter_num_destroy'), (202, 'scx_bpf_put_idle_cpumask'), (216, 'bpf_iter_num_new'), (218, 'bpf_iter_num_next'), (229, 'bpf_iter_num_next'), (233, 'bpf_iter_num_destroy'), (326, 'scx_bpf_task_set_slice'), (334, 'scx_bpf_kick_cpu')), """
c-n<lJ!lj`6rS0=%O=rqG4ag#1DErJh>aQr?GlZmT~rb**E1mpHZdBBYZ^@u(N0AJRvrN_f{H>QDFSPm(lT(
3rIlFPoip=&d%LrVI&i#u^WMDQ@6Bvb5N1`Lf`%_ZuRB6CrQ!#`4=Db=qJ^xmR>5Y){IRc1O>_O=g9T^=nYU
e<uDL=?YJN{U^bh<n`hi?A^2);_W`CcMh-(picpLU+)vryT>-=ucRn^bc{utL-hY&;Bk5bYWre8CT>)#FatK
joq#!ye4(~^+;bx-B3R^y%!S9BdD>}|{2v-uqP;C8<W+`mCTf_{`-OG56~1^syNGk<H{<WoG)dMn)%+D|6sX
D|H>ZyG;q67|fpUZG?kS%2L=Eg$M;+|sreykoyA<oiCGJ``E+MrH+mqW((A!xH6t*QLehS77HV_^OgB=!lO!
jISrglZk7PejlAcew2rgKp%IbPC*Sg$;)5VKZ^RwpNQ+(ijfzbRDLz)*AwA$6L>3q>jM5hH<NzmJGTrUA`Rg
wnEq1xtDYU#D*db~@U<t-r{i922M&W8@H+qI8}bn2I8S+Gf8qi1taNY=71g4UIIgw<??G)d)wiv#2oK2Xw~=
o=2R|u!ZW;OIdYMm+c`EsD9k0WD)Ndvc_lNz^%XA>GSw)LRj(nymuT$<X5pSt}<Zd$F66PdWMx3K3xqldQ8Z
y4oGVQvwI|JT7!}#xj&N--KLFtXFrS~-TiLc^-t*__mlv?_~ratFx&I4ZkON=)<*JJx>*)464Lyv5Ze5H<lM
)~+7)Z<+E=jey|M|yKE?exZTn^Vi^s^v2tKOvWD>HnG@r~G(t9M@SzcOQ-I8~)689B8~p_#GD?F)#1Y=fCL%
wXLQ-ub8V(yl^)7P#k&^-8;Zlu#9_e%9}9fBK(JS(YiM^F2kAs%-xJVcX_dE$9uYUAM~+q?KTdwqI1W&i0je
zPkEG2)c35o3><JS^?Twa@Kkj$m*HLFpd91Vnwukx|03oi7{t8$*Ra3AK7W|toN``fUCin9OP;@gxf>lx%@y
&SchHxRaXfK}Gs-=O^)AOal8o1yJK8VuT%_+W#&|UNUtoSIy%zq<@jYVUKe2D&z8v3oZAqM;wCgnH@;ia^JW
c;&65l-=d}n7fuv5*TPX#yC7v>qVKaG)oIjrk^n%^7TAI}^_{akzp1dPY${gIbnOx^3OZ=;Owf~@$|-0|J!_
fuX1=Tly%^**Ha|8@^I25*>nqdGK7>jJoSIWKru*PPV5Mmw)a*An+{ay81EExD68pA}2S?jIo{lpF
""", """
c-rG&U|^5}Vm4+5Fi3#%W#l3J2~fVeGK9YXjo-lp;oGo7_&cEdC{+j_0NDry69
"""),
    'struct_ops/enable': Packed(84, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<<Nl2;~cMpzy1ue*6c~`xim@>`V*{KmPy!FTu!w0$PC>B(xn!*aK-%1}3n0B2-;CR9qcM8vtn
uCRF|WLQwmaHh^{PPlTE)z`y{s?*A63x~Wha0C!{-vH
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/disable': Packed(86, (3,), (), (), """
c-pHJWB`LiAr>$l!o<J;Vo5MEpnybS0Wj@j1mTA<F@fprKnkSvw&Ddae+yLoR45Gq5~l{B
""", """
c-rG&U|^5}Vo_!WFaQ7og#bG
"""),
    'struct_ops/runnable': Packed(88, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawyGjE=6uoydNfZQ=B@2s93ZJFK2&ohV8(U5K5dDZ@Yd^t0n#R&%A&n3}Ban}fz!vGoxsOC<Nt1!)aAwY
&d-jZN0x#R_DX#fmz_X*3Bb<E*uSWnY=Uj>qtXKchRswQRg)ZY%b#@{?X%yZgzcG@2pZUNv*deWiI(s!2KLh
Ygx$Z6`Uq|wOw?O9}i2g))-_+!u`YbvCOOLr(=Us9x;&T6Y!*4a;B_WEwkA<WC(L=Gdm)S(Q&tGimX{vLnFR
EhrE<On~`1}lOaO3eDWp25z!x(~Ivv`cVyibnuUkQluP<2nbU!G@A6_4kEZj;ZH^0of+q4rL=Fh9usfxJiiQ
GM?}IYIkc_)9ecAK%rzFP&sveYg0FG1ob7ihuFeQ9l
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/quiescent': Packed(90, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?^7i<8z?!tEGPY2hsZ%LHO)U3=BX1|Nk$+$bbS`ffyvT9Vl-Pq(vE+z~YGziXj{-t`4LPfHb;
(31(D2zcSQ4MhCzuMVVM2_5;;{L_qd{B-)|o--fEk5Les)rnf-NoeHG^uTvKh
""", """
c-rG&U|^5};z>*lU?2d*>OjoK4B<-vu{IEkLiq|ntP8{%P(A=dF#*Z
"""),
    'struct_ops/update_idle': Packed(92, (5, 14, 46, 74, 158, 186, 213, 300, 332, 353, 470, 482, 535, 551, 571, 622, 638), (), ((20, 'scx_bpf_get_idle_cpumask'), (28, 'bpf_iter_num_new'), (33, 'bpf_iter_num_next'), (131, 'bpf_iter_num_next'), (135, 'bpf_iter_num_destroy'), (137, 'scx_bpf_put_idle_cpumask'), (149, 'bpf_iter_num_new'), (151, 'bpf_iter_num_next'), (164, 'scx_bpf_get_idle_cpumask'), (172, 'bpf_iter_num_new'), (174, 'bpf_iter_num_next'), (269, 'bpf_iter_num_next'), (273, 'bpf_iter_num_destroy'), (275, 'scx_bpf_put_idle_cpumask'), (287, 'bpf_iter_num_new'), (289, 'bpf_iter_num_next'), (326, 'bpf_iter_num_next'), (331, 'bpf_iter_num_destroy'), (339, 'scx_bpf_kick_cpu'), (341, 'scx_bpf_get_idle_cpumask'), (347, 'bpf_iter_num_new'), (358, 'bpf_iter_num_next'), (439, 'scx_bpf_kick_cpu'), (442, 'bpf_iter_num_destroy'), (444, 'scx_bpf_put_idle_cpumask'), (449, 'bpf_iter_num_next'), (453, 'bpf_iter_num_destroy'), (461, 'bpf_iter_num_new'), (463, 'bpf_iter_num_next'), (555, 'scx_bpf_kick_cpu'), (559, 'bpf_iter_num_next'), (563, 'bpf_iter_num_destroy'), (642, 'scx_bpf_kick_cpu')), """
c-rk)PiS047@v9jlJ~YK+dr<|ltQv@HMWO_RH5QUZ4{4Nq)YJPbDPps5klHPedZL!M7*`tir^(w+*D!-x)2Y
Mms9CQ$gz;i+Eb2Rgr0oP%=eppZ)Wpel9uA717R|6zWL^x@B96JGf8-msWyA!_gMDPOEezuXDsH74U7I$F|I
hwXr=SihX;J>Ya7qXzFhc~%ia_A^2_YU_m$rU|3=wWxaFq_KhLkL^<fq999dE8zT7Y35N&qf2E})q=Di|ge~
a&JkH*n8>f4C3U0}>lt#6Bg+`8OP0knN{owf^qqIkna+ONz$Bzx==E+S9J+ql^84VAxp>idjvFH*)Pj;yQk#
Md3_Kii7)&fhG;pXlXQ(Iv!plln>Fw2;o%;rl9It6b;nq4K|m^IYI$AKs#Kln%k)BJwBZAIiKq$dmY)mT@dn
+{*)G=N2h1Gol|<=cjW{VZMd=;5!;;;Ut>JIhQCOVRcAF9^Rt3>!Uc=3mvjYy!9IPDPW&z8V9H0_cHZY9jb3
d*fm5`m=i5HMe~EhrhUa_>=n`E@3Ifhz>i42JVNj;;@9gAn)`J9R(s=c<vNU;EvmadPcQ~Mj(y(3J~+R&yIO
!Bj3sVLqA6R^0>l%f=DBF{ciE3%e&kRR*K4AG=H<k{8lUdPh2)jyLxZ*Aym`%&WK6uh1E8-}Xx-5T>MwdHxw
O-Kh+6RL5gw!Id>-q0Jub5o+~DP5@W>-x>iuVY;$@|1;qxQv``GK;)Sq=re+akH65{otKkygL?GX2z8MoGxG
W%ec`m$l^3-M6zzoWiD@5X)T%lsa7WzN=>&K`Az;$22PTpzmPYh9u9O<}%;`CuVmSGs!rR8RgNJvqKtJ^6VD
J?U6_LOi@P06oFIa}@W@UGGN&|BtIDt3}Pr7g?GI72m9H#WVBMbP~QweoZ>W6Nw)Kx4>U`3b?E#`QyNmfj88
55ctsc!52v#RNX&^e{HAhQbgU4Cp<Fhj_)I3VlV4h8rYuK-MrzQ(O{i8&(7AP@W6_J<3Fx_V(8u~_@LL{^)4
CX*?n8v;wP)V;ce*YdGkFb-?vg%<-11R3!YV{;d~sI*;zwZZN1bw+pC*fd(usPZ%ksn)`b%IsP!(al5Pj!{T
lGFd>wl0KyMw=+bQIuh3^4$r_BF~x6`LO#!=POn|ifZ&)f`qKf`{1hW${6Jx}W-zAvEu`W!N!3V)8tr?eg_-
36ZpM-zUedEV98nx(T<OJ}X~>-uErY?i)Wz&pi$uW20F{K(ePEkj4!!1cE*pVtjGkUQUm-;4a8_+PpIW53_%
@2hah;_1A_Q$L@l@?Dp%TOWI$_z7N)bG&<yXRXiC4O5q;{u=&|foJb@pxfZtd#DTWu?#(S@vfLDfM-{*{%v}
n)W@v%2lTq^{28b9eF67|p7+4hN4+n4-X~+${c*;+KWf&yp_Xxfq`n(?t|hwHpMD>Vnt3}{p!#ZDPhtOaoc{
l?_8i{tF8P^sGwxNKCqlh8$A<WuGViZa-2!}XxC9_itd|uDM@`)*^B>~0E^dl*oK=4xd~e)O_Wql-dtH7yDS
Y>_n{hth++4o(v9ID?;rPlE#__~%as1$k;yAcr;r9Ad+!Aho%fRi*BjWZKweCM5nJ#V
""", ""),
    'struct_ops/cpu_online': Packed(94, (), (), (), CODE_11, ""),
    'struct_ops/cpu_offline': Packed(96, (), (), (), CODE_11, ""),
    'struct_ops/cgroup_exit': Packed(98, (12, 47), ((19, 'ends'), (39, 'places'), (54, 'places')), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_CocT)A0!{f$Ol%p1*i^)7?PzR;u28vVIWa
i08EE5bAah&Aqao}BB(t~5PKvTQT1(ShS<9uNH9U|Zvydw>Ody(i($I=1Ju17NdAJkdpp$p%EceR?&KGS>R$
%c&jxYF{zM2LW)4h0y8HGgA<PF!i8Am){0mj5#>mEC2c*@3d;=`u!Y>5%Cscj4&;mwc!Ubd>Gst~V{!}Op0O
~+HVE
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
c-muNU|`4uVhv^nFi3#%MWOr^P=2N%gbx5lwF4m
"""),
}
