# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
f62817a188ae0b9815b9b4d2fc19ac1cd9118282f3f5139061d4a8638aefa2bf.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNxOKc>^bww^Mt*lid_yfm@WHqx9(>*&JlKX>0E_Xw5M>4S=u1GF+<ptetPS=o~>FFMI_bf?A5fmWtNicl
y!6!QbY`}1G$}K{I_+kSF93TfBBETn~41WOMY{0PL_v+JC)m=SY+8%OdYN}qndhgZy)vNycPp8PA5&nANS^j
=+fymeN8Tgpu?Wq~~aLS+L3<H4ojDY!&30LBHO0|tS<aq^i7Ct`7+h?DFkG~YSu>Ws0TtFUK6maL@<8Lf$LV
E_=uPWNfEkPgRdI0aI;r$N0AHn;>@cxckV}@w!J>Nk4Uq}G>`Mg-`Pc3WNaDEIvh8F&S*5{@LT_1(_Kk>eEA
6H18lY1p(Rqowc@r`l|IMZjRwKe}7KB6hc_YAH#o>Dyg;}qu$W%kd|enHUmRcOB`==oP@za-@JjVU2(`2H5W
XR&{Z<AnbiWcELy@vOlA-<+PQX=BUD^ruw&!??x|#C+uCgDJ(+Pp0^uBCo&J@FK!z1>MN3l;xj@_B+~If33C
8qujV~rlz>;W~%#C-HR*Jd@o*x_Ww?+egA)GxMB{<r6p+i;k4rA7tr>I@tVE>AHSSd@{+s|0Wa~NJHz(|Umt
;XyJ8RXs0(M*S}&hbaucuTUbN`p8NnaEmXt0V-`KneAD7Q5{A=fG_zjs|so+E$(+#ks4r?8^(LbY&f3ji&)o
*>?hfXoiHh)^P!52?}BMmk>NzXp`2-mZ9ZTzJ9=TD&Hd;`Bt^qxHhy}K`Pdhaxhf9WMYzIjS|s(9W#&+%+Gj
DPO0`1t*X@$bFN#~(C||JxiNf1_difyc)mHH`m@7~gFe|Ct!~8^%A?=Hr1y&(2o#Xp)@1BJfaX|9e}-!uOzk
Am;oJv?Jk1z7OqznE!v!PK1wtpW}H77y40K_$B^*_V3{1S8XGH$uK(|Yd#%g+;7^3pDp2rmAE<-OwCky-0ct
o`M}I~egiPj&cxst+PR?n7}{fD-0yUR?}w!0i_m_I{6PC%*@nTd$TkH2uR;3=+u+x}3GFXn8<_ZZNBQ9Y>Zm
>VZb!wL_d8s^Uq%^ql>bIq%eeI8jw$QHj7tXZ*#C2Y2XbdH$N8<c?lTK&UDS0M-<}u!xM!abZItqP2|s17by
lo}->n6;mL50W(Rf^5P-{J-ttDx|wWg-+YaNQU5KouSok3Y|FQ~QN(D?GTwL)#JRO9Pd<LiqO9@_6Nh&`>)a
4Z#R+M0_!ar-}bPW&|cjFN)*{@T{o+8h4%#%H_!&Kvi-zE8$5aP_iZka3bn`w0!5I8F9h_oa(^HzFvGN0bbM
BcCQk7SWsx=rMU5#A8ZEanOSfnuNKDisS1QM<k~)?G=7+G$whGjiH&2@&&E8vjF{3ujuTJ`kfw<?7VXCRsY`
B=4-A3Ydd_lQv~_I7ws1QXgh*xCl2zW?MU97ejM!Qp7Zy_f!AJ|#!i&`Q5aKa)#(RuPFL7SMvHNlIC<~L2MT
<(q#yQUm#@GvGlXqtPN4Bth?JK`6e$ie8ian7^iwj5LNbi@v!IC5#1Er9*o$dM0D10@iVTE9U|o10(9mZ{_O
o<6LI5St{2<K=0RvkQ6~`nW4}E$>dww>Cjv<w!M}>r7w30&_?H|D0IO<Un=5P9s8MOZjNQ2lphRu9)Okr=e-
I86#-iXdg8&ltk#pSEI&=G9@dX@e8>%Bbh^hA4*%wLbf6{3qL&j}y)^YLDOoWr_7K}8>9OoLurhCdS1$22B`
1b!}o24_h>_meaPrb2{ZRQ1v%FBH{L2$~Xwe%fbh;H^}En9{WdNqU$7Ac}GrjQluF2S6AIb?DA<13{e$#q_A
}xN$U~@v+NhdLHX8@v#|zt_TLyXFpt+>&!W?ZEfDa=igb|zQqwqWV1p}K<(U|Gwb{Lankd_KK))g90eKmgCz
9x!(imjm7r~B5$q=Pq<P4f0AOkYMC1oBKkTrdD>gu`U;ufu`|8^L+dKY)?#64M+2OGLG;`dNu?V0RSK#ZKv;
7%=duMB7eaB}^Z9DVM5{z89Ajv_#q&&x?5cak%PxxTJ+Ds+yZgwATZ0{HhAr>x9`;wl)k>HgvmOo<ib~{W37
8UEK+-!Ww4dqjBNQKci)LFKR#HN(Ymetn4XpyCHhjsf&&gTd-%ny9-Te&4TE&jFY%vqQ<DB4{y_Mw-88ucR@
qmPO5B6oG8XIR?kK|LkXQZt%t9KbsqXa#Ljn4oYBV)hN$ShgxyRS9_m?3J&fTP<<|etVCCQc{;GbX(46RB@G
`=kf(U7MHIqUn)(LiC$WT<mjkVx>O^SxMG6mrU{}<ivyZ@poEK74+4(2M5+ak4))JE>-X+!MvrV%c78zV$RA
~t4o3xLJ|JgS4_*r}c-Vo_%1>yJ@t$j|CWy2dL4M19oW>BbAW)X9w>+sb7`q;sr0sSXI-NP89soB4zMK~OTr
Gp_J}p=X^#y<{b_vI#f@XdK0WP73?i@7sXqGd7rEKKE=GM(^G3W3ADRo^ADQr_ia#WO9Ji|RywgLT9>8-q$K
sV>$TG|ejA~{U6igT!i50+{m97=k~a~02d>jVkMG<X~(`;VesC6rN??oprV2F5NLyK{&aj4t{D1?2d{YdbC{
p$CWnArtxq=hIFLmNhkWT&k$+M$YG$4lX!XFMG@{I@hl|m*DH#HOJ*!ef5&&(fa8)37re84ybqTGB)QNR4*V
IT5s<~u)B#HwH>Bi#>z;j*f*5lJeLnHxCB!dkFHc+_ix|Uz+s2jH$q;jya3VzZe5A*Vk49Vp*HWb=dqcKee<
uRM3*7c6+X3vbC%3Mn1d*<T(#+UNWn_dW2K$KcMBUCjVm@XtmYsxr|pfi4AMTK`e<9ChxuFAb5>Wi9ml>E(q
xH5Cy}J10FpdXHA_-6F=FG4G_eBC^<wGHFnX_VZgu^w?%GX}Z`X5X&`FI|bkCP2xSJr3(?g2eYr`(nZ?DmG_
s01#OjbHAjaVRNb_|+cv+X$}rKrE&ep1t~+fg&ILD4(F%}1i=PH-*^xO6RLjK^M2nZ;Y0S*}>SFWS2=+q*w)
?_RoU@4s}>urw5TUT`a$SBAPIU5k<g1yIdN%rm#BQYk(TK8H6>b~+_O-k9WeN|Y!0oeEBU>hIxt_}nM)J@T~
&vV`TYUdFHh%O60_gyQ8oV64MH_1yW++Cv|r{x&3LY;2k5Hl{KK_Bqv~hI9^?Lq$nWvqG5X_WDEr=JxCU?al
SI+y3TV2$%t!zFA@>4&j1Kan|Wmpq!m@(u~K&{E=&>C?1P$yKRSw#fWQ~cxaqcZVzBe=IMa(X%!oSnx0#6#F
In8mpH8mK12$tv%^kvF6#l(Pz>F>ulo<yZgub9!_385XgLA0<QxV$1o<?l2|HvR9;DDUpt;jpAayE86JZsPQ
f5LtaVfob)EkuU+vRzxbfJ)!dFJl3$=4w-@~pc(KxBvq;rL$P+E~BkZ`{1y^;B3g)+E)*1fs$S)m1N2lzm2(
LiVaEQDZR)i#(N7nB}#$4BF8$UU9TYC=KC=gOIK=P?iCiUaBQBkBORUJ^MjGfO&Nl*44-E{)IyX1cDmDV9kQ
y?efeL!;i=3oGv-%2Uu&onwV(Y3LHjwf70V@HM(gPlDFP+u!hOvM+9qXH2`M!Rfi`I<5*Zxr$@a=A`ICx@#q
GZWIijDg>J--UYcRZ1Er2o?PWj8tkl@gFvbbhlm|y-9Pg_o9rJjsmwoCCYQ++{o&}pOf?@iY`bFx;X)lO5U!
Gp-0Y#p_j%lPn3b5D(eh%GQ!0gj04j`h0uz5)e)|<kD;N|2}H3iPcdu~M^H1zdChvc$CgRsBK%vJ8hjUbtT*
R511z=U11HgTg;tEkp9>gxrp^u)nIcVvylUiE2;hd~&YMZZaWT2x6msma-7S$2376jh^RxmOeRpkJ_X8exeC
S6X(2i+bC2FV<r;JC^bV{y~N5W*xJZ`=rWgr>Fgt=6;G5J@o!)=lIQwJ9;4A0afu|zu&#zy}3fH)=e6TVWp(
SQrX3lN;GmJ4@PhvW4r3|JBP^|UK$$(fUv=HHA{(4n^Y7DFyOedIsj=8JNLMiN{qHUdX~y^CBSe&X7GI1Z;0
LJTh3D6dXZ~3fT*7IXtka@i+LEGzg}t{3ZqHO5|(JQ%mJ039d?u4tt7-2jCl4-51ZU047IJZE;MeJrx@$Sm_
}3$s4c359MDeE;sh)2rQ-yI+BP;~vW=*cfQZ3N5$xJ%Xg5%myh*ZglE7J2Pr+oDk%5WM=6fR3EKAiZ>v<<uM
loKDXm${cauy?sgDA(^l#CO#^a1C$c-hq`Yw{&`Ynp5+*=zpV2o06XqElur8a_)ko{#dtP>W2fIx#n@kz`pa
PZ@5R_g851DCudnZQ7|`F=CPavgXEW>5!_Tw`~=2ErF<)-6z!48Nm%Eqtq5vAmZ6U?u^ite_m$(pV!j`&brm
C8d7<=#^lqCE7MsHt{rUdZFReM?qPt>i*z)qSWMYxUVDq)Nq4I(e4%Y&dF&51A=_yq3zA6+0Zw0O&I${1OEw
~E7eVsc2eh=-WxwZnlDwvxDFOAKB(a*&2^(5`0_=bWw1lIZ1YSCR5Ki8y&#K6Fn6e_woz3kXfBW{vdUqQ_<-
{w!3IZ(g@3RUgZqqf6@CN&_%zl_9iPD>w)+LG(7Q2HmCb3%*TP|n)$SIW&4_C7aAHPT=%@i<|xo8}>PrBKfE
ijERi>16e3Zv#77MGVbd7X6b#)F~CJMo05I2{JZ_@KeDtA)!Gk~l78tdUSABlD>W)>C<?0{c#mm4eMm_&EI)
^X?O>NzG*gM{?h*89<#Y*?YQYMJ!qmTh8ppIDXFm@$bURDBg4_K0DcIl>9F7``3oj0b{2g7-dXk!z<*?aYXY
TO$uGms?(5k*?oFZv$Kgwzjwkh+rn;xkJL})(nlJz#8Vy^a&<QKZi7*6pi<i7w_>3Rifq4FhxXG9@~TRw&X)
3qTo}8o0oif`%sz_46ntYMs;5}KfF$0@1K3H3x;dONwKSxbKQPLx#n6URjYz0ZJe<p`9{qCmgzKq4)(uq|7X
Z|2I$QE<<W+G_jMOnvPOP5{)hSSm1ADx_%g|}L;6VTZ7<3O#nd3Ng&~ZD%ARAy<o3ImQCdcqu6FGcRE=}SnF
;rFSH8fTA8;XkB$%guUD<;uhN5u!~xcKvM^e8g?gx+o9QUj&0=n2=zzYY5_?@@aq$zl)H3CpRbeY}38f=>7D
&5gUS)gEJ^N!WqC*%#JX?G+DDs0wrjnz1+T`{}qCjSF`UpFM3mptF$DiP&C!DgtTWdc}Wrb8EdTuTv^Fhf)2
mSn@bX*pqVhhyUc+?-URJ&9ZLgi&{_ih?*ItTDD52p43W$LLkNV^c;J5)lijAzQB46Ey138c}TKPvrM}u>Vc
nwr66@chcLgSUFWDFk|s4B<-Y+G8~nl9L6n4q{p{g0n%skuVZN{67zn#0d$_UV-`%|1CGx3e{_rsf%w$F^U8
=jWq|?Gr$*ZP@xK2$u5EfJehU7tCO+bnpCX^giN>KHeZ8n#J=S_Gl2qV32S$s-q5VaAn-DGu!;bPSj*4od4p
^wQ`f)6g236*&GmS<o1FgW2Mp71oE`DY>m2PyM;!d00)46PxPXk-#c%u|2{i3>4m3DXfB1zTMf0ALb7k0JCi
K7Jj<F@*5Fpf>=rAR$aiB|9W4(IrONh_KTxf9{>&F_Nen3@OVkM6WOqmPrr{!Gz11boTO`bO!nH5Wc`lb0UQ
*ACUPSSaqXe
"""
CODE_10 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 101, 154, 159, 263, 291, 396), ((9, 'places'), (46, 'places'), (61, 'places')), ((113, 'scx_bpf_get_idle_cpumask'), (121, 'bpf_iter_num_new'), (123, 'bpf_iter_num_next'), (195, 'bpf_iter_num_next'), (201, 'bpf_iter_num_destroy'), (203, 'scx_bpf_put_idle_cpumask'), (237, 'scx_bpf_get_idle_cpumask'), (244, 'bpf_iter_num_new'), (246, 'bpf_iter_num_next'), (365, 'bpf_iter_num_next'), (370, 'bpf_iter_num_destroy'), (372, 'scx_bpf_put_idle_cpumask'), (389, 'scx_bpf_dsq_insert'), (458, 'scx_bpf_dsq_insert_vtime'), (463, 'scx_bpf_pick_idle_cpu'), (467, 'scx_bpf_kick_cpu')), """
c-rk(PiP!f9DZ-J+1W^CljxRpLE=(vtOsqjMZ|*@|3K+wFWE*xSjGfPy%aSVpL0q}EqJQnpWw;OhHQii9v0$
ZU=~5iF~>?T1uwa^g&ukv=e_TH+nL#!#vTO+!Y^;$@BRLMzwgbenlO)grVP3M8srS$&y*8uul^v^GT6l0DG2
c(48xifiRWtcr(abCHYUYsBX_B%dazR~B+qGk8&c~}nf3YNw6Rc|Nb0Fm`><COVnxUG){BU*iFo~|1^pg@{_
|M3izS?+om)*I?nQD?wDI0Eap^VA-x;mXFus#oO6a%c{ZPMOK6f{>E<um$DE_+{b=sw0T`ye<w+}m2F>UsbJ
0<Z(B<CIYO`orPLOZOZ*VvGc)1QHZys82QTnGD$e4jq2o`Ur0cTqx5``4;R3uu(O3>>*HpdaTaVQ4Uke$7kf
lj?u1n97fR^cIK4fO==g$hp&uXZ@s+K^5z{cOn0vzkui6b&KDdroO6yxT^9a*zMxI&L@;wZ{MtSoL^+b>DBk
ler1+%H1?i^y$_5%@7%9u-+TQx$R9T#zy2w-ebFbpm#&-j)u`Q3n?mo2A#k+A{*{570meZD%wxcK22r`ovGa
D{u6Ij}_sbpP>MY{zBEQurTCK8NKR{i!S%(t(>V140@B4e)M|^HsB<9)j!cz2JL&#?wE7872M6k?$5<fwg`A
OhY=TjywHMIQ8>{}Oc-C&)I1?06F$vKk;;=9ECy!p6LMjRE!mFAPm70WBI(5D}@g}l_vzUgnL0ln7SkevnQL
;q`>18u(@J%)3lr_&@p8%cewcPe`H|5{qTH3>ej_A8BXKgAgSbkvpTF}l&yiM^N6qyN|PmDqVbp+`=P_e0~&
;-@Ws2Ohs?efq#rp1$f16L?nL>tW(P*#Z95&zJ|*!+fYM%*!wC{SiMM(|(+XIMetDt{je|LJUU(^7OOU$Unr
##ZC5=`K04`dG_y-U(Ljo+M{u6<FbBL7xumS?bLi9WX|{F&b7&-pyw9#wQH}A`m4=7&iiK~b3Zlzmha*`cqY
b|X@6sLMts`)W61#z1d8)F#rgY&IH+Ns(){6nPTnX%U-eMG%JRSC4b?kH=&NnmP5U{_&RBkoyYm(AzfbLV4C
;2HnZr*#)bCO=`Q6hx#`P>b*>!&c=R2?3{hP?!rGM7BD&NoKofg+YBgrGJ9RA4CFX!k_=jcC|qc1b~?ph(4h
pxZD_kWB(R~*dEh)3t`Jv)3fKXNYH;)g?c^dQNjY2M7?Eqgz2mnKXBT=K7f6n>7&v*!E8|1k5u9FF=+z6rif
@{aFjfA`t@ceRANT;TkU%@NPvYP=`kG~d^_NUNp4!Z^;?$lEP<yl;gZ92RqMSdQy+&ekS~XRd>V6rLCU$8-E
U-}3&X*a{Q)AP)xLC2_Je#otF$4!_f<6Tefe-k$;=V!nL%J4VLuIpT)q#Xm2ENF)
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=9
S1sjAvlLu-)JA{85%Fp0K<pTg@Knm>
"""),
    'struct_ops/dispatch': Packed(68, (4, 6, 57, 62, 108, 147, 153, 162, 179, 181, 192, 194, 203, 211, 246, 253, 255, 282, 292, 302, 320, 322, 331, 339, 366, 368, 386, 388, 406, 408, 458, 460, 479, 493, 495, 507, 509, 528, 530, 548, 550, 567, 607, 611, 630, 645), (), ((16, 'scx_bpf_get_idle_cpumask'), (24, 'bpf_iter_num_new'), (26, 'bpf_iter_num_next'), (98, 'bpf_iter_num_next'), (104, 'bpf_iter_num_destroy'), (106, 'scx_bpf_put_idle_cpumask'), (137, 'bpf_iter_num_new'), (139, 'bpf_iter_num_next'), (160, 'scx_bpf_dsq_nr_queued'), (169, 'bpf_iter_num_next'), (173, 'bpf_iter_num_destroy'), (190, 'scx_bpf_dsq_move_to_local'), (235, 'bpf_iter_num_destroy'), (237, 'scx_bpf_dsq_move_to_local'), (249, 'scx_bpf_task_set_slice'), (270, 'bpf_iter_num_new'), (272, 'bpf_iter_num_next'), (300, 'scx_bpf_dsq_nr_queued'), (310, 'bpf_iter_num_next'), (314, 'bpf_iter_num_destroy'), (318, 'scx_bpf_dsq_move_to_local'), (653, 'scx_bpf_dsq_reenq'), (657, 'bpf_iter_num_destroy'), (662, 'bpf_iter_num_new'), (667, 'bpf_iter_num_next'), (672, 'scx_bpf_dsq_move_to_local'), (677, 'bpf_iter_num_destroy'), (682, 'bpf_iter_num_destroy')), """
c-pmCU1(fI6rQ<v@7~?2Z1Z!IwTLlINVFifX;VZB4T%<gs@80xAS^K{!KaWI8n25;DjM*uia!W~+t#Ln4}A!
3z=cf(wJ$;*g@E|rgO5H*o*HN7e6xFJ?!6m>@j{rLzcc5|Ip25AB<yACYrIA6bdIq-&e*VM<xtUO##eOAe&H
&$VMk82m1CQGs(t%c)rS4|9#Z`ew^cvjGgx;=_1`}#&J$nd$d>9iZj(G;i2F;7Z{(rhDzzIpe?#b%i|p6)x?
jsuKVUDAepS+ETG)18o&P8Fyr<gwBCTH*^K$F#vENDm+oX4Ri}aiEX<dyo*s)7;#ke1lGbiTd)iq{uPhGI13
j4(TuC&jA9pX=JtuN91OqI_6wv+l9hwNGwZJ)A-^k2Yykz0Pjea!o$M*(`-{w%x+|D7fY>o_O8Np^)D+sc3C
ep+{Ng4*&a*n{&|#6AxBCGp8I*_KCWzOUb0FV~$GpZqOby>3MaaU${y{qb`$ay(*pL40bh_{x!SE<X8NwogU
&KP}n^pNRWI#+#0x68nMT@l)K-I>kxa`mnlX#IueY`@X{}#r=~rXH_IG`xI}@I1FjsWFGN!O~)DedmeG6<0-
t3xOOP6Wn4<5D<^1t0rwY<kbm|41P&?YyL4CUob=uia$l5ouES0raVnG?ljDnV9F9eCxM<=qV6Tz>Ur;>Pa)
@u>Na9B7-GJT0!tRqv@qA75%;%hVM7f*|WwUC3`ueZbOds%YndcJq{E2xKziD!cB&U8Q8ON=-`D3r$eE1FB!
%+5|(z`xy@~`CGB>Rh5ORo>0SJyVRufxs(*y(cO)qa|{?d@UDC-R2P@8J!K;{xy*4s0qu2wZYxICw|(r!(Zo
;SBWmEPbD&b`5yg86|yvVVC?>St2>UIA5L+<Ei&>{+TVcuO{Z_q#hYEpaEVAyK#>hnm>OA_!-B!7c_2wCkJ@
aIO%*v2@Jm`JO)k&*L;6p`tJsC1%C3_ByZ>M8uCrk|F=l)6#Gu?+hBy(u)2x-NcTF^`55s4c(upzlKpes^y@
~GXH32*X7<VBo!Y--f8Y{sYYyzb3A@L&-Cr_0U+*GckEP`6u{QZSVDHd9XUX1$D|VhW^KX+k_Q8$LgDu_&NN
*}b*t@{RG<dVbJBU~EeloADn!FNTC%trjyUg<`{E|)P7fYVDQ|Eznp82gU&kW_KxZ;=3SPK3x@uWDg^=sn)l
;#@?|K0x$|CL4Ho)hkeee6%GQ$~S*;5+bu|49=M!w&F|c&)%cI|FpC$1V_`zk&KHPyW|=xA76`C(RFotceGO
;|an^$vwwxIZjm0$B^Tu;LyIOQP}aamVYuP-)$qm0KRMK_jqi7=1}!}BqrZGkbd2<{n<m+kK#0wCBIE(A$PX
DURs~Pr5aM#r-6fbL!ND5d<{4%V_eo%iU&rl`Z#0N$B0jzw<R8<b#ViFl@Wg{F6v{fFHD$vH0$G$R-J9s$B}
WPKF0VQ?%%GH>!^d}{mJ*?6zec}beQA4=v)5DS^g=4hZx04xVokAU*c{vkI0b<_BFsq;gb0t=sQa7kL;Iby&
SE77f`p=;pb(S>}tl5o&QG6{8#SM{=ds~T_R^17+;5fcf`JzjP>6q-;2$&HotXQ`L2uZMcd;sGN}G)3SYtAX
1;g-UB0iO?hlUxFU~WubDVa(IH2DbdjCjlzuRViOiv5nns>u-Eq^E`KXV}c9*yny4pqO-nEdR4^gBZPJn)r=
eV5wnWy{g$2M!ULe!mBt8}I1`#@7&c`hDml&*}LUp7Op&UC<YKcN_c#y)-@~uQ-u&H14A3WFk11acl5bWZdA
dev7|2`0L?h{<3*#KOQUeTD-ML_>}Ks`K!bUU=`out*dFgb@qSetrG|2twEE2dRzR!6VBb~+)An!w=VXW_gQ
nyy3=F5ZR^^k|BofTAM`s~zo*jV1?&NOPw^H%%9qv8X!W`&#__KCyRAI^zWRi<ug^X9?0q@@57XP&QU
""", """
c-ou6&cGnWz`)Qh$p8ib5Eubk
"""),
    'struct_ops/running': Packed(78, (20, 36, 38, 44, 75, 97, 124, 177, 182, 216), ((9, 'places'), (208, 'places'), (223, 'places')), ((85, 'scx_bpf_get_idle_cpumask'), (93, 'bpf_iter_num_new'), (95, 'bpf_iter_num_next'), (160, 'bpf_iter_num_next'), (165, 'bpf_iter_num_destroy'), (167, 'scx_bpf_put_idle_cpumask'), (172, 'scx_bpf_kick_cpu')), """
c-oa!y-!n76u<BFgJK}1louNkLx@JyMcO(ziI&a9Xe{_KGzbJY0uu4&O=|cP)W$^$CNMZSG^qooE+&kOBwZN
YEQtf#^PKxTx4s93#G5p~-gD2#@1A$gx%#{^Yvv_TFWm%YWS>bz_Wtluz}VctzQ<MSC<ua_qatgKek^LvW8Z
uXobFXBpaV~RLR_(XNI1cIRqV$o>?^`tEb2G?R{RZ$KNog>cD>*5yz$lGg&`OG$bOq72^GgZ^54w4pWW`a=P
dCY=r@Fqp9LPj*J*t8N)C3DRpWPz+>LkBzbN{JZ3lMaW<OGbeBO;IN@rkrlZIZ#xi5A*?|~~xrIMV7S?m``p
F=fV<h>CGw(hJWZeH@7K)x0qNFK#+E5EO9GoS1u!>b~4FZLXHBq^U*{VfW{JX_@VenkIS*Sw`)0~<Y(-=!b;
UYT8kp7T`dYuD75|Ku0&<DS8_0mSpq?W6u`s>7?z^5Fv`ulGV;cLj-ODrB!~2N8dsDxJyK`qee?(OZZ=lTy)
ok-nHFIbU%{?B^VOm*xxcD|Hp-&;7%EQ_?p}Z2t!5Uyx1}cfogsa3sWMQTkvZg*f(pmj9{sTEvaF#IODg{yM
W~zDH#gdiN%Qm3*}CR;A9^f0-7`7%K&wkBmn3S+7Wo|1(;>RdV8n{HI4x#^KIQ5B}@NG%ce`s}hnswD>>c^^
iSJw7#n+^Uif+>!7TDqOLxit*2}Ik^0d!)TiD+-F{z|IpX48R<ADkf2X2#qc@TFoE!a4JXfm@&n*=6RD7V5@
9@&aJ@}&}&2b%;uAm+ZDA1iD=p|Gi^e<swjwfL!ep>WB4!K`sZg}bt{S>$MzdQR0;WsY%Vg0i6CouDS3i`8m
+g;y@=BDb*<#v~M!_F=415U|I4SqZ|V9qZ)Np*|ot0VLESl(=%boz3z>io}pRhM_jQ*QV7Y2N1Jn&I^qj*Sh
<
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNmJs2VS{p2A01}NW#9l~FL#s>fbb_Bo
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 38, 40, 53, 63, 91, 112, 140, 184, 186, 193), (), ((86, 'scx_bpf_task_set_dsq_vtime'), (99, 'scx_bpf_get_idle_cpumask'), (107, 'bpf_iter_num_new'), (109, 'bpf_iter_num_next'), (176, 'bpf_iter_num_next'), (181, 'bpf_iter_num_destroy'), (183, 'scx_bpf_put_idle_cpumask'), (203, 'scx_bpf_task_set_slice')), """
c-nnbziU%b6u$T6)t89nwXv^;E-@msxTx)*bZOB)Km|kGp3!2#rS^x^>sxdXS1AaNjS<qpf<qt<h36u4%vi|
c*wL|DJm;S8;(LjBA)I%9fA@Un#>^^vn(HD{BeGFaYN$!y6Mf!O>J`b#gvy;tURBApUqhDRWzo$Oi7@`BNtV
5WQfsVF7bSk~#Ks%FZ~e{3SFL?kX~FeW^klhj<8}zwImY=x>ND&D_XDnnfl@2z!xfU(r#5e68+aNgR>rqPj{
@Jyfb!Xs!rq}eLpp<(O5NvqXsJ7P|6*Pbp_?}qdx7|d=mFW;5?Qp=2lkFapQ7|hmX9so>K)9TayYc&kMx;Ap
Vc3>PfyESBg`$;;1fK|EAg*P0k_WAGac}@3H{Q6<)ivS^nt%GeH_nP{AmsTnQuC$M+Z{p0eB*>$9h|MJS+oe
`R{&Ne2eJclmUhCr%jRXret2GC3_R;ZNx7KpL+A(_rtzL`nl+DVgD@ij)A+bpXK@_=cP~D0gtp7zscSO&nf2
B^&pAfVkY1Do!$$ucj~U-^hR*Dz(d)+Cz+RNok9wpChGKX&t&e*+8bnN*Ae=zX?Y)}EqUQZ;BMhQ<Uiy4c)(
3RPCeQZ|5v<!-xK^hB&!)b8^F09piirx+oMWhWN+O&ToQ&lsB69mely*l%<^$h#-!q#Dz`7Yp1g0aU#DZaqZ
4C)s<nJP$1Ty}Z<a1@7klaIhqduOeufW59n!I}bmEL%)8TKH*E9LINnThOpF8i7+l#vTDSP(*|8b6gr;qOW*
gmzfPwrh^IkxjX+$srgCE;x}FWhta@;(NOkMt_<8|FT!eYgGz_kV`>+4J)I-bKBSkbeM)6Y;M
""", """
c-rG&U|^5}Vm4+5Fi3#%{p2A02~d8H0))Q+jX#44!na|E@J~Sb^OYcc00g-PDg
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
    'struct_ops/update_idle': Packed(90, (4, 51, 56, 115, 165, 170, 235, 286, 302), (), ((12, 'scx_bpf_get_idle_cpumask'), (20, 'bpf_iter_num_new'), (22, 'bpf_iter_num_next'), (92, 'bpf_iter_num_next'), (97, 'bpf_iter_num_destroy'), (99, 'scx_bpf_put_idle_cpumask'), (107, 'bpf_iter_num_new'), (109, 'bpf_iter_num_next'), (126, 'scx_bpf_get_idle_cpumask'), (134, 'bpf_iter_num_new'), (136, 'bpf_iter_num_next'), (206, 'bpf_iter_num_next'), (211, 'bpf_iter_num_destroy'), (213, 'scx_bpf_put_idle_cpumask'), (218, 'scx_bpf_kick_cpu'), (223, 'bpf_iter_num_next'), (227, 'bpf_iter_num_destroy'), (306, 'scx_bpf_kick_cpu')), """
c-rk&J!n%=6u$2#d8sI|Y9MwAA)+9Nv~>^{g{rF}4H+CBp+XiRL?iLhNkyGiL~siT=}<v1kR=ju%9yc`MVuU
+q+2}qe&03ky-3}q2g1qu|NCx8bXpnOe!n-<ytbs&%u(u`@W&z-U6r8xYw&0}2VNN;)4b|5ja=|1$aiII@;y
H;`GmHQOpH9*L3|+LKSkfqLLNN<@3UUtQz{pWw{|NJ0>}k*6Mb~i|L6qtHOX^T_i_G*(YIwLU21FPn~|d)`l
(|KHE_6xm3{0%^t!~5b?=GY)A=8A4=34om-C2yU(e&RZ~3%z{8QNLUDVxWf4+-3+QLhwfAra;z38O&{tCR2L
mzqeRrFGR&v>78WazO@^Z|24%M)|2unfOj8{pw8=VASh#5v4g6*4y#3fEvSm6QJ3Z(T@#*WCJbB#9f#pD!=g
@wGlScV5W&3WYJfBc#7;elZq*S@_Yji}%p@vUsVgufRv+V85t4N#Hi>0>@ukj}X^mT!4FzTK~XpD~a2JdVu@
v5U($Y*DUbb&H<;zAa&Pw+{03G&lz=}@2-x%q!0ZfBksB2+$F9L-{awX{D0o#g_f7V*?{}8etqu$t@=AI=6(
1F+B51GaLN1E9N^IItKp__SmA#B6b{Z12RHV>*Le3k&<}~<UE;;}h(`~2Y;H0BI&frh(xacfZ^8YJy|Ry&#G
|zb#GkcyJmShv;fnc7jI;jXoB5p$j`)8dpYqdr{rEoI6pmv01db~6_nl=PgQwNxo;E%Fp4huLS%1^P|Ciw@$
Za2a8b0o{@IE=`i1(Rp6rF2&&zEqgkou~RAGp8+_9ONa{`sB#Jd3~YsmyU(<c#{1z-PMtv@%xK?#A$&Q6Ej*
Z}cLTkp
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
c-muNU|>iGVhv^nFi3#%MWOr^Q2tCF2p<4OiUTG
"""),
}
