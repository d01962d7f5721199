# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
f88fb282c094aa598a74cf3b1282442231c383a4b6065f9fb3c2958f26db653d.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNyOKc>^bww^MZ=_Ws#4!-XR?=(1RQK#~IOKldkV|e>+>uP|F1g|dD`ms9n=>_JXJ)!b-91avRvZUNF1aK
}AA$rne2A}3E(s9Bmz<m&e2V~I48s@sVEd#)5IFDEr|Z+zL(=i=&P+{xUcLW&^{V-gKb;}JOZe-vFY)&;mx+
AMUV)Dp-kzC*53l@5uCNL4o)dFEVa_XIyr9~~8uE&oa}_>b<?XA#0Uw_eu(1D+G+2NhX^VN+;NuS+dqR5-+i
xk{$wPr3!g>ntPs00a@O}pG7vcRqwZ|OM_IsrU_s_@)@beY1*KaxYa>4u^_!v3p16*I86?lCL-hajWu6<eod
0EOz@T!#ERq>5{i#X9&XSF?l4?f}<M)w@<H<?j1{N)U%3wid}(EhBz>FdybP2lqlX#auW)3;^>ui^Wj;C&tY
XE;pwKZnHrD>Pmb@c*6TGc#+5oXq~dYQKnk{HIutw0t<DX!>Y|%M@w-9}O-7d`aMq#7bWNrf7dn+v^Rj{W|i
EGiPRo^KQ<TlP!zevs@ORhxUKXD!KnRG<>lJ`O*+L{BTy$@^feh#CXl#fRB%76~81cM9i1)uU+A?!Pjp?yJ^
|O0_wsQwb$pbD87l;%da`~@QR=hUrS1tjc;tCEBNS|g8%Wg3VefSw=I|mW42~4sm^tdyYQdW#$UB;!2Z_Pec
}@9T<d2w8+`4Yd8Echr|H?>ev0eahBkiQ`q$6F<MkSP>+rpL34FI-<M=+V8Q=UIAK$(tJ~o^my}{w^){OtN&
&T&`#y`{G<4<eG$qhdKUd{O5H~ILpn(?2A@q?Q2r3F47){J)-`FP~ev#XXKP2<yt0uF`tFBVlS{3W!H<zfh+
vGkSD9*FgyhIS%+{HtvS=LOv84H0l}^Y5#F1|Mr}BYw#+J3G{TI>xv++lHSl=Z&nmIub<9Su}nVoCD+obKm=
4LcRm-Obq@Tv~z*?ccDEI#{C~l!uLbc@qK7NM|z<B1KEbb4`mwy|Bs=4if!;~A3^)e*ajkgwxoRU%(9Zfi_0
p`yt>T!`*+BrW#zw-*D@|GEStP8%(!IGj{VCp{{=20vZ3v}rR|HlF5}z2=tr6TiJT8yK9=)m%)PFPz3@BL_R
`~q<RR|$7t3m|Ep0D}1MW35>)z``?1gathOeDNUVmMq>mM|_zNPK;ZEdfA(dhcFM%VY{d}#k*S;*AF;Y=#ht
TPw8aQkDP6MvF@#z{fK@cz!u{rAG%%|Gshd+$Bzgdv&0z@1xRK_*EaA0@Qs4b$X^b>CdpyAeQfHl}10orW|i
vY6&%K+nkYXgHx{JdC=~L6cr?g5vPH#VN_@kaml(JD!ld$R^NC$N8ex+ggPFxLdRi$Ng3pQTE<^@>cj{XZvk
mO>265wO2&>AQbHe{%CpvYi}6kMbneCdHrE@ln35dhzGC3G#z?z9>%>P_13(8G|cHL8_8%f$r3N`o`!%ysJ0
Ay{h`ly;E)->rZ+FZ1gk{yOGAnj#~F=!VVv|+GLCy>6dz?#5vNJmi}UDkNP7f;=i#`>fH?&Ah4(S-g$&41mQ
KbvLGd#`PP0PH0TIN-8ObN3ke<?Rm`$K#MCIsdA!jgL$q9{*j$!RE?o!gr-w&U&+2NbO4dSL4g!%r2f^0Qu$
u2`SqH~&Hs-kGG+|iki(-zik@)y>-dEV-Z_8?hUk9(^`XHT9JJ{;zg!~86VeWQYkK1P@}yS)Pc$dEp#Lo!I<
=Mrdemh|&5Nqaz44`(o}x@nRZ3hTHBniBWIw9nKaShXfGrE3h5^dy0a$jVVP4u@$v0K|Z)BY&P72<l8vERXx
1Ka2--c;>T}LBP68cx(lLE204n*$*Gqdh_1fJKOtD!pHY_A96qv*mc1tz;=G#yB>!5S<(%`KErN08b=uoqof
z+C(+oSFQ+!WHrP!skmey@VggeWKq5be^}QDRx$2t86%1xR=)84*|IuFfw6pp47x(zwewulHNmvZC+N<z&*W
3MKxVyKrxv>{AqISInZwW?j+>q!XU6P-ZaSvo$<tKcwUrnZxTicy?H+T08f)EO4r+dr5ph(cl2+N<bbq6h`0
&PY5C54SIDNw%jo>UlJpx%m`B`&38wyZ=0qeYeuTdX@wa=u2GVSXHP-^wk)Yw)i%Z{9(yfziRLA%|`XYSfSE
5PeLX7rCz+J%iFj4;m<zmYPv#<1oF&C#|AQ3KJBLL9D(f8!Ju)vz3rHz+U+ty44~j;I|JcC?)loLO11lh80)
&1<qffqrGx_<z{J`jP=qgBt@sK(xn=q#1{(!KTQy1S{&0X03~cYJqS475~vnDTG&7DZ9Li6j2_9bBtM{Z9F8
+eN8^GrACNPv2d@PX0_?zO1*D&)NzZ4ov<=v-;pbO$yc_=WbO@meB4kN(Bapg+LF<``(?N@ErBfyJ0_Kf?Ag
{qb*UIR6L<<%>LovY@;=!@FpjnteWJ~CYKM##Vn&r$<DdTv$z4KsKtT{PGOnslv6h^55IW0;kf#DY{i(=x*V
SPfQ>{)yO1b+1}20Rl#ZXzX`F<YWTpH_Ofpdm1s_Yh4@YUNfZX{I?8#CM#fhcskD$Dl-q{ya_sYl^>2L4^1t
XnH>1xC^2Hkuav-@V?+Ryf`pbZ&K=>@5kPsGUZzI?%WEP!}HeHy_@iL_pax2QQo=fq)x{czfhY-JlP7o56;n
)A&s8L$q}&9zzyN3y)eEd-i<X6Y$W%E41n`&Q}~{~#bH!*k6{B1d6wB#;4%IQeL=_zoE~Jv5)8LbZ(FbZM~}
4WAYOq``}C&uf|&tG!I$usYiBtCYU^$V0bAMboBv8oblEaR<4YU3X36{qYY^n^J1)EGQLxVROj(5p7Q!~i6U
#P7%6)2{jbXr;y`X;kT%32g?*YHff3NW0M&=|l@$MwcAXyc5i;h9`uqfdN-rAa`&e*p~>f8v?=_Khmg4C4QK
7~~L197p3)bRsC!gA?^G3VIW-syxpo%;{ODWRI_gTZN}Vo<p`#aBkdVR}MQM_kb5p`qSh4=4GV;l`xp3c$>G
g^3vkJ#QpJ)z?=qYVQ|wog7)TU=%(gJ?~x2+|A6F^#;neKG1A?)!Du5?!M*j{(`%E>5jYq=CWZc$nw14rn;c
4eJKd6pm0cGs^)1Hn9ouPARh<E#T(~)t`Z<`O!HkO$n%_+1yf)8EBG(I_96~Uz7Bzxu>GA|81rEJW61Q7y<7
*3eb`hz<9~er-4IfiU2scmY=wt>Q<)<78vB4Godafmagx)l5azkN@oxBF_nq+3_Qw53;r13p$*5@ZbW)TK1e
)T6)~A3uJDa5$5Bm8t-^{N97P=3b9%G9Uv^Dn7VNSU{fGL@08b+s+Z8+6*|B51>(h9o78B5S15@($pb_VrX5
1@u@=xn_cKE402v;PFsE^o2nMM#o&66KJ=q&WlzJQ|)Hr_eQ^xz|`ERV+vyVwOiKb1`1oDZO{x9hC0d=h?M%
p_l-h(r1g;F(r0Ndw{?Y4$kAUez>{uFx-6bs1vBLWb8@o#RQ_l7}ZrTt(1L6ZAJE~+E#4|3`<i|Nh`-bRF?)
nUl?h8nW&bTye3PSv9ONeF&sy5l6C8BJ~{NQQ>3=8dY)_v&9Q)s#K7oO39>BBUFbX`7m1TzLTL|9oH*52o(C
ZWru%J(ylkooI*;NI>0n*eHg&sj$2H;U0f4|pP+DO#ynTKiz_=RlHJ3Xw@p{7L&oHiflaaSvw7Ou2ZLMJS!3
Q3elv!YmVNb0j!yKCJ$wh4h>s;zEuh*=EhYCzMx+h7pkku`Fek=~b<y3jT*8wV7_T$Wn&6Ja+RYnv1;D8*~V
Y#G|K)niAB~Ytf$^9JAbQX-#=QJ$RaF}+ZA*ZW6AKON}#sh$1j|q5es~!VZ;+xf&dscPEuHe*}KA#TakyRyk
ovSXEM!jBH=A7no>W{nAGtsip@+>NBy=Hk^9rUPQuuvRhQ44ok@#In0_m`{jot@YD27j(Xe7zW*1<q2c>g08
l(mYJDhKZ2_O$onwIZF@Xd!U!$JNupe&VyCrG$2xo3@e_sOUn^kD%Qw_JdnXzj!D($w=B~IUg|T23B4NUP|q
d4tfm^o++l=1-Irw(NSWA~$+t>SnsoFGm*rUi;fBoqxzz6o>2r~@bh%pAyB<MCkaVeC!M=_;99>v1H4m9lr)
3FC(plDl%FhnUN$y+8v;!iZ8`G0I4+KL^=c*gE;tI5c0uG3oZyQik)J6G3H%jd(R^Ck~2{5&32x7X8sB(e`b
4(H3+GuDuV3oX2vPqJ_Iag2LWS5b>iO%|)G1Dwd)hi2`=hlKTrykSnI2z|5HrU}f&av=?ne?xa2p(v@*l_#S
)z>8hzXs27x4=ia)2~FGH659Ic9dArbG;HypupyF($y;Uv}IqI;+4ZK%|%tR33VsXbk+N{_*=b1m~unF5Uw!
?rIILK$Su3+2o6VMbkkpwCxS0Y5i1rtO{RK2;`uUWBQl*98v=jzgqruVoO(rv#uKtL?sc`SNgY4=;JVjlJ{X
V>PolW+1+Okwu2-&=8&g@?y-1;GYDxaUtQMSe>48orZy^#`&;#NGKDAkdIEGehY!|s+VD6GVTR>`$psMCtIn
}e3LG^q(^+;R7lY%c-KiTPY9zVfMEicmX*m8YkpZUaw=$-ah0Lw!pOaI@#&~-A)qGX!&L-bZ|VwGhpOD-fTc
bM|Vk`=hEF83AXMG{my<pt~miK2Z<HV?>Cp#vCj2^`$C>6WTjR$06qrK}S7czbs*+<mmU(b)wpoO&B=0l-VF
BUa`{G2P_=@39{%?1x#GD#LQ=N=0SL;bg%UBy`6Kh4WcIo|kqF2hr;a9=`)7^%yXfQI`QOw`gmmaARv1taR)
C;+*RIud6^`as;LZb?I>*w1nMamCi?Gx^iJPxh)+n2jxU`TI~gk1L|OeRRRm=0{7SX*W_qwq4YQcl?IImzdR
ZCz&Ax_-YCijs3?mUzgd@p=6B}^J4sn-6Vk6fOk{OU*iMVlHD?{J!g?99-Z3*`oPL=y?KL0OVm;QATG)4fIw
}NZWpS5(Zsp*D23*OUfFfy;c9LDCO7>pv0W^ncf^{&DW)x8te*F*Fl*x46lQ!3<yYrIXC0+!rDS$C@s`;r*P
1*1&d4Ceqyi1cpXSC`xI9+yMp4II5Z{n{oa~G8z<gT7ygSHYizDhhghG~&brrvE3sts6`cYbNzQ|Stmmz_y#
XI_1-Re?D?3+3hK^qPFDJn^hLLJf;ql`OmBMHu>4LWqv5I7uNOCL&=)zXeBdFONV;Al1s#M0boTwGZ6qfd$Y
>0E$P@A<c92hn$P(bFp^>ii*8O3QiP3<Kw1jGK>>LG+M7A8P#tH206@z`h6!P(Om__2dc36L#6aIHta(0Hes
oO(l)xn74UCEU(9R$u1NRTlc_>{b^^*vlFG?;wjOM5y<K@0j3&Jn#Iz$}Tz0QGkEnZt3?lX6q#ve}VmyI!7e
2t<^dN_T<WfXq`w1k(edo>at?iwSj=bHoF0$k5qYIM8LBbw4bw5EXOAeQKg7!M=R`%Ao*mItyS8llOsbcE^E
kvjXsJI?MWlw+`s?y3AS&yM5*i-cdl6;zF+O=gDj1RVgP>BiJ!jg8osD?<IRCJX8hN;-#PoEFsq(|7#E<WhY
&6<qzBQ=jrVRyFgZtjI!+glwX|1^L<!4C{Gi4j|u>TYc5HSn{%j#O%h`&5(z=Ynd$kgPAM1&DFYf|4TZWLtf
?R&y={!IVevFtX{E#g~)@Q5gxEbyjB>E*8>ZucIs)g_ukv`1F67K!_*UdA5OnQ9*b}BmBU@A_ftOJSme>!d0
35MS%uPf{{rJF;iJ>CT_&AB}_+j5Nvl@cY;OyWQeoR@NXER;gI$ql641w79>C^v9cke5<6m4A_+Tp^FJOT7~
Y5~{gE=}5xuZQSg0j<BqE&8q;;6*q&3LTM(_nzniI)X`MlQu0a^c?iU
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
    'struct_ops/update_idle': Packed(90, (5, 14, 46, 74, 158, 186, 213, 300, 332, 353, 470, 482, 535, 551, 571, 622, 638), (), ((20, 'scx_bpf_get_idle_cpumask'), (28, 'bpf_iter_num_new'), (33, 'bpf_iter_num_next'), (131, 'bpf_iter_num_next'), (135, 'bpf_iter_num_destroy'), (137, 'scx_bpf_put_idle_cpumask'), (149, 'bpf_iter_num_new'), (151, 'bpf_iter_num_next'), (164, 'scx_bpf_get_idle_cpumask'), (172, 'bpf_iter_num_new'), (174, 'bpf_iter_num_next'), (269, 'bpf_iter_num_next'), (273, 'bpf_iter_num_destroy'), (275, 'scx_bpf_put_idle_cpumask'), (287, 'bpf_iter_num_new'), (289, 'bpf_iter_num_next'), (326, 'bpf_iter_num_next'), (331, 'bpf_iter_num_destroy'), (339, 'scx_bpf_kick_cpu'), (341, 'scx_bpf_get_idle_cpumask'), (347, 'bpf_iter_num_new'), (358, 'bpf_iter_num_next'), (439, 'scx_bpf_kick_cpu'), (442, 'bpf_iter_num_destroy'), (444, 'scx_bpf_put_idle_cpumask'), (449, 'bpf_iter_num_next'), (453, 'bpf_iter_num_destroy'), (461, 'bpf_iter_num_new'), (463, 'bpf_iter_num_next'), (555, 'scx_bpf_kick_cpu'), (559, 'bpf_iter_num_next'), (563, 'bpf_iter_num_destroy'), (642, 'scx_bpf_kick_cpu')), """
c-rk)PiP%Q7@yg<$?hx4>mQ%pltO$yHMR#ss!;KwHj2krq>tdm^);obB81pLU2}?JBHr3+Meq_TzEolf`XD_
-wx^PdkYga1=qX1pLQk$U^Zn-S&b;g<X(?Vh5GJ$p%{SkC-|zRENut9{wV9K564}Qu(0Ht$v4k@=B>GRqIB=
NJD(9(>4*AsA*PfJpwe%~Oy(jGDmzj??l;0-*M%e}2^3#H!r|+osQ4R4NTUP77JSgH2ZRWr_#dnM5y)t8ei|
-we#_?6^JBYJWV$9F1?}&liy4p_xbbNE2wu^qEc%uc{ugX3kd+ZY}AWz8KnAq=imA^IheOkB|DP!Zu?yB+l*
IU$oww)B6zg31m(aWvkONj3V^%KHrDVwjO>ndL>T<7b)^1q7nT;OCM-K29=j=<jn@+ao+%e*+qllYmEaV${W
O9N!*mMJgOq90V}r*lqXzK!|tI~wQVB%Z@L7bzc6jWQA4q_`U+IM=fqWRG|ob?j5ZK2tOfPs8sg)L(I^zJai
7il#6pT6l`)2Zv1iz-8=Z(d6&456{4lNWMHm_zvRN>kgaybp6(P<8b9Vj9YE0yFO1i3OkN{-o!pQzqY$lf**
`!wko12ThT(q6K3YQX!3X24`Y7#NE+9xqJQGW)V~^^?!|@VmF7c}wUeTG&69LYyuA&euLiX4_&oI&y_dMO(|
m~A@aqvC<EdgE>v=t{vXk84<x%j+BVOwLr+wmOP`2>-A@zOiHE!z9T}yumxA7w4^`SrT7tihz_pBMW){`oGe
~<dIZs`m0Q18F1zCiEBeCW&EK6Pc*)|IV&>I%iXgnGC>bj8=YLg$;rd>ixOe6g-{_4=`%{6BhfV!wLw^DcU_
W$6j=@b&=o1ozHy+&A~U9}WCJte&itH7}oMSsnzwS>M1j^V4!tzDj;gIK&f)9|O0*Uvvt%tf%?oz>$GB)OQg
0(DvaMX&qGEKZk#9r|VKi-A|-EGU|@+!%=E4>sT4snb+OC;hoWBTS<|ftw+(JWdp~*U;Wt7y%q35ufOMAGR8
9pws*u&UVWom(9`qgdrH1<rLM|%jk*^+t4>43IIgm@hOXLrsdctjH@EktoBH0Ez<R9<74T8(T~s684#E3X;9
=<+^wxpiI;6Lg$VVIBL+DPG|C#KhPYsOYnyEL9TCbkDIre^z{lOgjXL9U$Rwwa&9`)Dfkoi>jb4)&E^-$?9_
%t|@@*~UhuFlpiovm3qYn@-$Cr@Yd^z{PXDfW9!<H+VmzK(7iI@$rQzh%X|ZnA;G`4;?M<o_i9%Kabu{YHOZ
MT-_s=PaK3#XObox@_J0*n7lJ@N$gf-Ge-9eU7i2x-9kA@c$fm_VxyJ8$5d#bpbw>pvNxW71Jf~>@wEBMM~H
hwca1l>#FldlGXQl+#7n{15Y3HzUX<Mj9T}{8SDP2TknQ?&i#@3Zs56|>Rx~LeK2C??OciKt8qPv{m*gw|HJ
B2c)z>kXTr_7S8<*g_1YW__!~0suTb4Wd~do0Ag@Fmj7Ch|sPZ3@tS)YfbDULwAAE1zPxk(s^|dZPoeaMF*o
~x^Z*C#q`q)>=o^X8m5#xA#uQ>kek>WVKZsGRYW84yMf6Kw`@&n@b7q#v`z0fVT
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
