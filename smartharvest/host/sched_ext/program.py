# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
5789465882fff2fc5d059faacdbf4ff8495d0061b88e2e0b2526779389219129.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 51648
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNRON<;xwRW>48z)vkBw+G!dgINedptWkYda?F+UsoWiM`nII{U$PEUW36uGwj(r+eJh<K0a{2vWo$2#KG
#MWDbX7mgf|A}l0?IB-Ma#4(p}L);L8_v+JK)zdS!18sMAP1UPc@Bdy^@6Z1}K@Jgd{px_Y|1e9`HTeKMCPa
H;3LaMWlRUry;GU8&pEKby91rGgV-ERz4l@mpuZZ^a!|-@c;==xyHC&Itqb}hdg~!)Q)`a#HwqMO@Cl@7si0
dlc55fH|+&AC`mdTxbjVYq7ha`4NXaT$jk&n0FehlvKh`vX^0PiX^0CwsEv|obu<8scq3Bfzkb^(DUzIECEO
}JfXKOt%BK>N#*w(f+G&&%+R;eJvI67j?TDJ1$`XgorUYw}BZ`@kMN-V<w0Azwcdbn@#%Xdf!b`YCvPG$G`P
W53n#-;r(P<&P2%&i%7&zpLSym-yAXAvB(rgYjf82L=C(gn2;f@w?DIEC;^_?WZLC`_O*Y)ZOG4;qimXTqZw
}_%i^|n`+O<H`4pK5XAIki5(PmJwGjUePqP=_vQHWIiiDVt-~d2<7I0kI`Fvuus}T_V5aUy)9r`Fnn$7i%z<
3iHneMU4%$#%%C34q$cXC=+6x7{S%k;=1GyaUXu5w{oBIuDA1ll~j`V9V^gzxh5q_BI;BY|>qux62lbSrA7z
0<7k^7jC(Mx$SI;ix$oZ~j$*gOS~=MUxl96Mz4Q(W^*0Vm=ZWmhwIp`Q%nGRB>|$jKQY=W%lSx8U{BwGrcge
Nv2H{2$l(-7^Bu`iSvY4vX>EM~r_c$2UieFFz~Bw?~ZsLylh^F}^k<#;=#y-E_f^$MPxh+(g;U<oW5784>gG
`V`up^v!=lyCq}jzo6ZgG44MC&x5$oL75<*67T6IJdQkP<SCW<CVedjP>c!B8L=gUqlG+8B~w!c9^Zt(2jOP
w&YvI#L;G8D@W;^ZN?Lyg?H<wr&i=s>nI9nO{u0^|@&@gXR2z`}TD2j_{07>6Y=iZG4DAHluMzV5BY7_R%aL
3Me>;-rpHGg6IEAwNRJMPCx|VZ)h!bY>ScW=KdF;ViQwO1$#|)WZ|0A;^HY5DgvpGF4%;xmeX7hY_Lbg#pO9
~#OzpCITgw0ROT>h!#>&}Ep!?dIU-(R22?MaWbA80apL!;pZjRqZOEO8<{o#iol3T=~VeC=y|y{F-PU&Hy+S
)oT#p!t?Ep2^ZW>z>;mi`w)d{tTj&xbEu4#_Dx<bM1|WyLJ6a!*$6322P%EQ!<EHuoF?=3gc*pcOO5dcO!yy
zfVce+jD7@CIMxnOZUlbFC0+P54{$27+3_VR=P*x$ldk2bkHYh-)*Mt1=i|NU-i`%7@%vVwPwFvYayxDD_35
1uWYQJx3ig53xEc#)Ji?pb!EGPKOE~VV#&*k_N}*1TNV3u9C~RGQcE#tRh&82@e=CSnqJ!K+z4(i^JzibvO6
Agd9Up_L|cHQorHS68$|7x^aG#t<1lFLlPGap{Q+~mFpPJpPxz01nh-__YwZ!i9!Ip3#K0l|$W9PlknR&U=(
%){w%lX@9X(1~ZRRGo6wqF(0NbIr!^kcTb~-6xusS6^yXD^Ilj=*yG9G3mcdZzd6Nj}OFQwMoZ*x(eUEgT98
;#X-HqunJ1RIWZ`n0uq_Cn*F+qkyn0JayG7CAn^!BQpg<d#*rHJ}4(oi0VjXiX4b1yE<102dt>Bm|sAUNb~0
>!dYE66BF2Df~xH;VFRvu#)=HqFft!F_+<sS1p)bGY~u0QL7X(Noxjn$2w&lL;j8dB|r^4b1s#sTV6VXLCpw
iphzdT8<?^JBD~;kZf&fc-Ev=Bz2=_1vb~9G9UsAsz*(>$u8Kt`vttArqDIL9L<uz1mriJ0v_Sb*MPh@Qw%+
ZOQJ`#AvV#}+pW9F3CUrT(U7AERwC6fBq4O&eH~0;xJb07FZM!(&R4qlpQR^kEVg(xVT-w|n+X+R3x;Ia?<}
x(p*E{3!bZF>vG**%1oIcbP5~adPhNejY7)81pCqAH<$G2n6TZ>|{7@t2a8!Ic;B0$ymUMyVOmoDiO0HJ6g?
D4_{uxQ<OhVs}*uu`1*)Dw=wC)eBNzl@%Qrh_E1Y~=}#oLj+3i{?L=gg9S3sc9Ckc07pC?oOUSwZr--V3rDr
3Q!?>6-jI*Ux)Vy5Z7h<QOj*pP`m3zz8fd@9EzLWu)$t|4e&1TvdxQ*wE$~@DRPQVowDTk$>WaZpOUI_7eyc
$;#kKODF~g?s-U?5iOPD=Q*M~c-&8Dx{`|_W7o^N>#|g~AHbfkKxD$uIi%~v=adfdR#%_0qLWp8Es<{xk`Gk
m#5Q*pe;M{<ZCcwR97Ltz3Q3tIq@?hIams|u@2=mw6i)&{uLRM`wUc0gd^Hhp2&dsy68`0gejLrMY(=-l^Pt
}ZuR0x`gAvf-`1+CXWocE8$TD4RN4?UJvwHSlBQ~7f<jzcS8Zs3P#e{C;h)UbaghkQxbZ-+8k3d|f~)tZxNK
#1-ufR>a`B{br;t@Ek6>PufW8I=R$xGd*OQeT>x3uOodea31n+3rRlI3IY>>lDU_7<bvA$@UqL0Cj}y<9uq+
-H2e0faD*=J|$2em88{5H;Q*7Y5F~{?}l;Q1^ghYo;@e(Mii;9`E3|<X}E9mnU0f%V~&r{0CXwXo6CRLFc*C
D{KoqB74Ds8P@mz%&aVUzyyvVL=}=I%x~;g^2hZbf#df{EJ(q!2tvZ*EUR>fO0eJZZL`cu&KgFsT2C_&Bk?^
!tUxwEyEd+5wH+cfFf}=;(5=g6((V*{x*oS2V5B{sl^?iB0acymL%ODc52oaSp=@{%t`Z-tZ2A_Ac7Wka%4D
db`h?i25n0iJTfvzNLsaz!GahX$SRm3X~%{t)*cCEMvXKhkY3$=CSRSn(2%DlFg##X3R_)xBG6{mT37N}JgR
cQ@kBBG5`$a`3TY62Z&M2e6y@+IAJHuu9K@%5#Xvhd7^SF0fW{0ew*E!#hsxdXd{h*2n=`Ka0}2z%ozR4qw^
h(I}!GdAx56=0%iTz=iXx_Ys(eFaU^TBukaW==?s3@Xx?(TKarZYQ=dYcQ*_Kt@qfs2`PMVLCpYk>1DDg%O$
OKEbJ~Z^4rtGa%qxDBJ4=S16`Xo^!IixpwYS1MrltNc@2Hu~gL~eb#4$dDUChIVlhNm~!;kP`1B=fQANwg@&
EiZ@5XptsjhdSdh@-pfq!7vK6^mD6OE!RbN;M=5-f57d4AWvHa8OZ@%L&{EKH~UOa&+aSJYsCym%bfh84bY)
?OH?KX0cYY&Y$W02Lf@>R-HAeuAwEdTc%?TRjJAw)2SJXj1Dn$@9tRBA&waQO~O?s=L)YTC?jSsM9#gH*NNL
0~Z_r?3@LFBxSHLLESoWaLb)KI~<+o!~Z&ASpu5D2((6VMz7Tfn#tm<^-wb#}Hhi7@REb(IqJ2plG&~3*r!k
ttyV=EFP2K1;HpIN~c;{XVtnl^UU{;0Uj(2?^Bk|I9=hQ2Fo4iarazfTwUKdw`r6YSw6x25F$r}x%@LaBpKs
3)KV5h8|WFnH!j)pb4qzGL=P+O68S7gW4C}+4-O)s>Rf%>qEO3oNImFqZ{^T8YjVRcjZW<dz(pW9CT=w7;l9
P5gGQ4kj2C~!;za6ew}T?FZ2>B)A`Q!4nxSzFDhsj*)E<}{QbnRGuVP2UyYV&AkZSTW7*YeC-})H80}R`a0o
ep0mQ{~fJ&!7;_{%Zz=qVjS7Y}8=9Y8T;Bwtma=m?jG732d|NxYv+SKH<XNh!re)7J^=#kZ-O#!$?*yii~$l
21YI{s=*gMkS_=5rqk!pMyvn$c#oa>(SFoOMJa*z$yX>#<wW{^h#|D?96?AyRqFk=MY`oB<_2lFjDjpGGy+g
RL!JJcVr|Vyl}0PVl5`>A;@36`n1I+d_)zl6=&u&qRyDL;!JfJwVCX^`<I4-D~nnb7sgb}dVM@Zg-sEQ6DSe
w;kYJqXu)Ccf3GAxyilFotg#?!X(d0c6~8tt^RxbX$sR-Bi&PDl)GXTAu#`D&>9#B1uvE)7BO3nU9nOgD3rp
jEzo6Qz&pbzxz2nYTcs-hzVsDit^TdnB2^P0vrP^5L7QR?!KH}Ss!J_OsGu*Xgool?hx_t>Ud}HnWg{?7%gm
Y$uM#?LN*-!%ryl&hU>4a~d9R7J>(KwZ8fhOH{00j>)9I%wxx*+9|5)i7XF=OoB&ZcrM#q!cVrL$xr`RsxK2
|%3Sl5oa>n-%8ptf4TIS)}@4G;FI->x@-ES@g=k^HK33%{WKoJ%uAg?7MsTx-0!d{)b=n)YrU16dfi*_1@o6
=B+_MS&K%gzChk-tdMoz|7q!v#@V1br16XaJYJVaak$slNz=Ox;<SOnCSROD`+02PVG@s{AwLgqmkV2Va(@R
E@)Q?*)sU#(ZIG=EWKwO(3RAp?K8*2mLesa0&X&s#gw^5TeH;kS@a}xOTDi9)PBXz)N{$JQ!%jtz52TcxzVe
SIhCFL*f%h1q#Gc{GU$IY<L_4`^B^0d%JkSoR*8HLt2l65OB2!eP_zj@g5PzW14I-cLpDjF&hv_ViNRRF0a2
$jm(Op~Haxbr6ZV>ecAmWcTKwv{(b_|;^mb5DP%;JiWHjVrmt}|pD2n(hGL(Xz>0#ZC;LdH?yljHDJHd{zRe
H1MH!i|B$)@Tt^vaj4jBTltQJ>2}O`{FVI>^q6qbFuP_@XtZA?V9|OBFa_>={^zhhKLx?zjYIIeImEIMA$9=
>k<u*!k`LYBEJ_BJP{;)NMXDp%HVM&P9WiCp(EnUXXhb45xI_FWD#f?5eF<poxqU7_LJmEf*2=pgqJ-eKWrl
6!&i1#LewA62sx5klQB~3vi%;szzZ2sA_QzbScUu-s*zBE
"""
PROGRAMS = {
    'tp_btf/sched_wakeup': Packed(18, (1, 99, 158, 206, 226, 246, 267, 269, 283, 291, 307), (), ((314, 'scx_bpf_kick_cpu'),), """
c-o~_L1+^}6rD-h?xqB?wi>pI8Wm!0CecH0jfkKpJs9zpMh|+^qM%DIR;Yqk@#vvd8od<>Bw!#pNp9v??4`#
Z177wZtn=spO?Ia{Zb}E*pTG0p`)~gK`H7Qda@m}Pma{lQyWmQDr|dsxJnWl_Zz;a5_&LQdg#1$p^y?=q>1T
Of`fc&w6t?#W<1&kAdz)wtvG01G*Ge!pBm52Vw+1|$u7^Blxj{U+7@iUFm;s(P)yMff^5XKVI5>&ZL>;~7N7
D~@I|5h#N_<nEKfR7|+x#y}1kQ8hdQ#rJ`G<KNdD6#tFZa1A8)~d)iuwfW>ue*BU*}Br|2SW#k8iv`z&cWWE
{ph8xDRIdJ~U46<9oNM55Bn}9ON0M7#rvL5YE$kOL23I?WQLCMv~&|=&R=o^6x7+OX}M7;&2BF&X%}gEN-OW
auPR)#kmTuAaVUz9Geg0iW1j}#2F&TvVu3~A$}(muf7L6sm!?&&AD<>c3@NBM7wyk3$*_R-YR3h54>_t@pIT
`)Ti%=w^o|y0Um$<rPzlAwzvdUvEUil+6~-4PdLzbRV?@nws(?vuMv+RNd)p_uCtI1$TJhTKQMhWV#!#sYJu
lmEcgueN&pXaP18K?=F!fwn^Z5C>a`qQuZN^JP_GJ{mH+lwWc~5`#3@&z`L?jXor{NgUrXL!xL-1f=az<NsO
9NPo}U_h7V+NI@D8-RaIz}@LHcasd7$CxYk4Y?=etH<j(Ar!yd8c0ByW@S6^Q4FhG$1#KY?h8xdx3{<)2WeG
CvRfzSyF9N<59VzPxA77o5jk>g#&~w*vFs!28oqpnbYP{Yh~z#6ytqSlDDlo&5W-cj+02e$39Dk$SuJNgnt<
8_)lgf?pz?w+AVIp3H*Ybv$T>&evG#$o(MiN|f$;SU1EOQ|T{C{d=!EAs*m|mfNuKy|oDUk?cSFiDn=
""", """
c-mXRz`!63#Mc=az~BRvugV1BYXHTifpjgDp8({`0_lZN{sJhUl^MeS!3fdM4dpv9LHLDGeg_joJ<PllQ2EP
Hc>n;q3M2
"""),
    'tp_btf/sched_wakeup_new': Packed(36, (1, 99, 158, 206, 226, 246, 267, 269, 283, 291, 307), (), ((314, 'scx_bpf_kick_cpu'),), """
c-o~_L1+^}6rD-h?xqB?wi>pI8Wm!0CecH0jfkKpJs9zpMh|+^qM%DIR;Yqk@#vvd8od<>Bw!#pNp9v??4`#
Z177wZtn=spO?Ia{Zb}E*pTG0p`)~gK`H7Qda@m}Pma{lQyWmQDr|dsxJnWl_Zz;a5_&LQdg#1$p^y?=q>1T
Of`fc&w6t?#W<1&kAdz)wtvG01G*Ge!pBm52Vw+1|$u7^Blxj{U+7@iUFm;s(P)yMff^5XKVI5>&ZL>;~7N7
D~@I|5h#N_<nEKfR7|+x#y}1kQ8hdQ#rJ`G<KNdD6#tFZa1A8)~d)iuwfW>ue*BU*}Br|2SW#k8iv`z&cWWE
{ph8xDRIdJ~U46<9oNM55Bn}9ON0M7#rvL5YE$kOL23I?WQLCMv~&|=&R=o^6x7+OX}M7;&2BF&X%}gEN-OW
auPR)#kmTuAaVUz9Geg0iW1j}#2F&TvVu3~A$}(muf7L6sm!?&&AD<>c3@NBM7wyk3$*_R-YR3h54>_t@pIT
`)Ti%=w^o|y0Um$<rPzlAwzvdUvEUil+6~-4PdLzbRV?@nws(?vuMv+RNd)p_uCtI1$TJhTKQMhWV#!#sYJu
lmEcgueN&pXaP18K?=F!fwn^Z5C>a`qQuZN^JP_GJ{mH+lwWc~5`#3@&z`L?jXor{NgUrXL!xL-1f=az<NsO
9NPo}U_h7V+NI@D8-RaIz}@LHcasd7$CxYk4Y?=etH<j(Ar!yd8c0ByW@S6^Q4FhG$1#KY?h8xdx3{<)2WeG
CvRfzSyF9N<59VzPxA77o5jk>g#&~w*vFs!28oqpnbYP{Yh~z#6ytqSlDDlo&5W-cj+02e$39Dk$SuJNgnt<
8_)lgf?pz?w+AVIp3H*Ybv$T>&evG#$o(MiN|f$;SU1EOQ|T{C{d=!EAs*m|mfNuKy|oDUk?cSFiDn=
""", """
c-mXRz`!63#Mc=az~BRvugV1BYXHTifpjgDp8({`0_lZN{sJhUl^MeS!3fdM4dpv9LHLDGeg_joJ<PllQ2EP
Hc>n;q3M2
"""),
    'struct_ops/select_cpu': Packed(38, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(44, (38, 43, 74, 91, 93), ((30, 'places'), (66, 'places'), (81, 'places')), ((114, 'scx_bpf_dsq_insert_vtime'), (119, 'scx_bpf_pick_idle_cpu'), (123, 'scx_bpf_kick_cpu')), """
c-pm6u}%U(5S_g{SPLU0a(W#SjlF1LB_?WP4O(A_p|-HNT&0Ph;157!NkM`I$=Tpf_yd*@E$Ggjop-{4vGbD
4%iEbZ^LA#34$&zQMcZq{U$kX`lD1%J7yMaJo3vS)rpdkVfzh+_(fqgOA1XPIdb8B(H=+OU`~`oLKl}yIXJ7
Il$Z-z&BnbtoTb%cs*nWYN*K5Q3iu1MQSKfxL5V-lg=<vg0T$eeIDuh1k65kWv@`}<Ix_4t^%J=Xxf1lO|bJ
0(KcmsZR7?tF=)K|*q?Ms<g(w+OZbLxS+ve)JL4AGb8!&eWxQpcyVjqf`}Ix*OB*vsmCOEuKN+~Qha{pMp?m
+gc1*RcJhK!`d`oR9E6o38MV3m;y--iogS?Bxu2F8iq-f%`93QN0j;Q*bHedHL{dns7#pcvN{+IemC6?+f`^
opC{oB-nov0`G8dGgj_%t+79?QLmhvW0v<u^3X<VK4-NMAK<=Ez;F6WgBb
""", """
c-muNU|<ji;)$FLU=RSrx<Jg$4B<Bbu^|xGGC}wofY=y`AHfXK|AH67UjgM`hUy0ZA?XIf
"""),
    'struct_ops/dispatch': Packed(57, (2, 18, 28, 63, 87, 101, 114, 164, 203, 213, 230, 232, 263, 271, 282, 316, 328, 339, 385), (), ((254, 'bpf_iter_num_new'), (256, 'bpf_iter_num_next'), (278, 'scx_bpf_dsq_nr_queued'), (289, 'bpf_iter_num_next'), (293, 'bpf_iter_num_destroy'), (297, 'scx_bpf_dsq_move_to_local'), (305, 'bpf_iter_num_new'), (307, 'bpf_iter_num_next'), (335, 'scx_bpf_dsq_nr_queued'), (346, 'bpf_iter_num_next'), (350, 'bpf_iter_num_destroy'), (353, 'scx_bpf_dsq_move_to_local'), (359, 'bpf_iter_num_new'), (362, 'bpf_iter_num_next'), (367, 'scx_bpf_dsq_move_to_local'), (371, 'bpf_iter_num_destroy'), (375, 'bpf_iter_num_destroy'), (377, 'scx_bpf_dsq_move_to_local'), (389, 'scx_bpf_task_set_slice'), (394, 'bpf_iter_num_destroy'), (400, 'bpf_iter_num_destroy')), """
c-pO2O-vI}5Pq*eyIVpmMcZzO1d)iq#orjiLA>foBDC=*sY_$<h7HEL>A`Ry-b^@%9BC1$Hx5n8p-H)@9Pws
?2aet}Uc}S-=FPlqyJ;7RY|_roy!m_cy_tP>ufgCcjFlarW`MOk*4Z9O6M<in+Px^R4<b!-#wG-<1{o8tZ0;
l@e=E{o?HuyY!i;IaPa;1hly%VS+mw2<f)BQdAEkKq;6*O|j&Di*%q5iTLLXKNW2;hLxW6rFoZpq}CU5np3w
|>q{C&Xu(&F6_vh#vIf_)_@?lQ%lF>#*((hHzol=fc<kzNw(6xaJDtqNU`)aS_`)umo+<Z<9QPDS_w7mMPTB
Rhx~O;Y{K2acbe@~`aOeAclJRuS#H7f}A5M;MgY)ID{6+wc=^vbS?v5ugJ-jr~GNKe8LLvUU;cZpSEYiSVKN
#Ca6uYbdW1ZX3c{Y{RijXul_Lo@~N3&JDMYyMm@d+~s$C&Izn@@+Z%22w!v!>uP5Shs(^xb)v~`j`Ge2@jRx
*-}QF!$le}$Dif=pLOyeq@(%^w^9dSizmV4*s3Y}D)o49OCi9$EhW2(5>!<t_`hH42%tEdnxC#mOCh!LOj~f
Lkw@awszesfqQ2nVt8hAa#`cVB|1zOj2im%r50gPjc`c8`nWI!`BxIRF3N+0yDhzH(*D!sgL0--V%)z@Q}r}
M6GhQ5x9N9u|v(<JBOfp?%6n(P6`+AZX}N0HX3&!;r(?>gn9`rJD|R9<#+JJQ_m+3~M<zUNs>|99&9!q~3VS
ACql{T=65*S^F2<^lC{wr}T1bHOfQJZlZ}v{x~X^$z2D=Y_R_{=0MNXIS(xlwvC4>6ay%?;6hcS*^nypK0xv
4AmtbJmK3XVb;}lj=MON==%}CxUM|58)-L>raAVD>c4ek#nFk!ep<$Q6zTiGY3_4651zSc8lJqUfeTM|Wc=D
S&s@!+L6r7WFmb-RbCmMk8^k_#=UH;wJ*U8@wAXm9HVA*6@Ym3;PPkPF2iPCT7kj9GX<hMgh6hH?Ba8N#))8
-|58vsq?{|8W;~YVNhc)Af_FK|^fWB9cc~{$fKZ%LQkK%U({nnnh??>f#n(aG&>%-cl+)r(m{CM(8u?HwGlf
B`=W#JH97QDFJb8(UV_JZb1<hXFc!J^{6%r)+HT=vU<;<$9oIF9}+j^7T!F^D)?Ui^kS-qYIR)xm$9oko0kV
_#<k{Y+HpCD?D@Ji{#JyU!}!zZGv6%XI(6xtU^kP?X$?jkx!3NG-v`ZRe}H=PNtqze4M8n1B5ndHkV!%8x_#
`9-e(1;G6VHU
""", """
c-o6#WMGhGU|?9t!~g~ppnO(l2tR@qRek|0s{99T1_oh}yaa>~0NwKieg
"""),
    'struct_ops/running': Packed(74, (43, 45, 51, 68), ((31, 'places'),), (), """
c-pI!U;u+wAm#w#J!}yEc18vU2Ozz_8N%lmhS2+$Luht(28JL1|Nq}#2;pyGg6IdCQwY@$0+ow@{72DGYxPL
(`+&!N5>Wjxu)hcq4j`%RK=t;Z@JNJ+hX4it1F<Lr6PTX}p%}uU>h?qJS7&BmNC277f@;15D=MGg6zcwFNCZ
@yZr}vb=|J;9N+p=l)GI^P8|?tQywddrm@lsi5l>}hWB_{if3*rkyt2sxLYo`_tCv@Ss$*dWt78Y650ZhYtA
?5%!UpjV$p4I3+_9YnB7WO>1(=_o1Q9O*3WAbOI*?{YijUjMAHeBo3snD9C=CEXuudN
""", """
c-oU-U|<ji;)$FLU=RVsx<Jg$4B>YGu^|xGGC}w|fY=y`-@pjbFDM1!-+=O8@Iv?uOsISSn9B#H
"""),
    'struct_ops/stopping': Packed(76, (43, 45, 93, 95), ((31, 'places'),), ((107, 'scx_bpf_task_set_dsq_vtime'),), """
c-pm6Jxjwt7`|&#6Q@e0F`I~ki;Lo*Qw9HkgII9UV5K-o)g?Ho^am)2a}lv)hd>;JTm29D1CANHo$uZA29r{
{d2l>D@4X+-J$G>+>>AMaX@7a(sT5+LP@RJ}mVs&n^eB0vwO04wNe%U;PoL|}ir*%>QvcuiC4KoEeIeHuOFj
JgV2)BsZW}-Ph#yf<({72H<&lqghw~KA-*ALDGyQAT{-ImtjUCp183GT+i`MtL5M9&1yJ_Qr3!%{k`05_(@h
~@ap!ezq@mnGbggrvX%xUtRwcO(A7I;fK@QHMqlMkX~m(I3@I5hWp<@<QhWBfLA0@<AZKZfkT#Q!LKzdQNSV
(R_;S?^b>&$-?$)y41V6Ag2V#}fV|5<1m2>f3zp9u29_c<<1edXGn7w*F}|)pNnWEzh3D=-XjGqg~Xku<nSF
=MR?PXTtqo7=Hm|{&o5
""", """
c-oU-U|<ji;)$FLU=RVsx<Jg$4B>YGu^|xGGC}w|fY=y`-@pjbFDM1!&w%oqr6K$kXnYMOi1|h`3=AM6ESOO
3uYk&Ll!5Rqm?82ncp-cM=idvX
"""),
    'struct_ops/enable': Packed(80, (38,), ((29, 'places'),), ((43, 'scx_bpf_task_set_dsq_vtime'),), """
c-q^}#K7Rdz`#%`#sCKUlOZ&}GL*j@LbJ0oF#P!c|Ns6%2!9Ju9|w?b1!9oUc1DPJ<>DXz!TN=v`f05m$$cO
2xK9GA9|rapL1>UXBh-9*AT7$k1Qt((st<>XrvqtLkU31K=I{$a-KBH@tYd#7)La1u2B35PZ-J_t3Z(&#Wii
t
""", """
c-muNU|<ji;)$FLVBi77x<Jg$4B=M*u^|xGGC}w&fY=y`4*+i91G4
"""),
    'struct_ops/runnable': Packed(82, (1,), (), (), """
c-q^}$iM(Z3=&KXDB!lx4KTe0%AX3Q0bhp$;s
""", ""),
    'struct_ops/quiescent': Packed(84, (2,), (), (), """
c-q^}$iM(Z4DBES2qc&oP{3`W8(?}1ls^?p0|0*31Zn
""", ""),
    'struct_ops/update_idle': Packed(86, (6,), (), ((16, 'scx_bpf_kick_cpu'),), """
c-pHJ;$Q#)Q6_#cT`35r81@T6=yE0o24)}~4x}xBv;;E)3gB0U(3M68j9`7j5PmpNojs7QH-hqk`WeCYFoF5
oq5M_>28RDYumx(~R45Gq5#<eT
""", ""),
    'struct_ops/cgroup_exit': Packed(88, (23,), ((15, 'places'), (30, 'places')), (), """
c-q^}!~h1B!VsEY8A9)02%*^-85lnN|NnmrP#p)5-wMQqK)jt1s&Da!|6qMk{ri_e^|3K9`~d3Pp9tZj>z9D
)hk^Y`5E>*8k`iU$1@jZ3>eLw780>&_I*`u_($9pdpI-<<!`xLZv;oZ8zX<9cCWw2`?FHG#400coKNU&?0K9
A=Hv
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
c-muNU|@&`;#wvKFi3#%jbtGF6;S?lMhG7OSEU2X
"""),
}
