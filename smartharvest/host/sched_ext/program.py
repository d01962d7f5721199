# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
42bbe8a8a0e7375e3a09f4548ab4c5d1f959d1d03f93a0c84e228f2dbbfc3416.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 64960
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pO6U2Ggz6~1;%YuZFqDF_IGj-#@jS+6&Cl19ajo#tngnxwI7J58DprsJKv_OP=vo0(bvKnblVuM{5O4e^4
IfR{djgoM;bBt+kM-~r_UflxsR2>}lXm2>XT%)RrowhL?T?4A2_?m6e4pYPt8@Bev(e1h=LpC04i=O>B$j2?
o^2rrL}!No{#$syJOzGI@#hxC3ajYqPwHikTr^%;lDCwY1N!*DqvXkq>H3a!WCGA;TYhRf$l=7jPXmak;IlW
T%Mq;(6vkHYtL_}+yth)mwe<`^T&d{0#H{wdi3Zl4fyeWYZrGMXQSORq#e;PuF;;Oj~FzRBwje=H+%M6Q+4R
l0WL;&%eR4i|cSRGIS_Ts)|UwHSL2%7c+ihBrpIT&S~eK>4`f>6=jgjNs?nP<~42={qC5@9QI+4*ZXyfIo!7
<3#(6emW~Z_BFWtSoBAJe>Rfw{mT))ZYa-h6*><^8Rz?>=#RYpMU-Dx=Bg=Ww4Z-+J&cTS{fy<;BCqc!N4dV
AhVoBFv$g#x6rK@dP!E>i;pd~7Ebl_u%*kGd%Wp<A{XA6UdRL+U9xt=c-=Hv=v-t*G{-w-y=uoCN!fovc$=S
vD9>1y{Misj{zDGY&VRysy`s;D7*V9?wBgZSoksKdt`yoLWKeHK6+AkL8;PUp-Okck^s_QF1=R%Gq(ipAiyO
-RgNK0!!v4?(7RIFpwI*cD+9n6pOb@+Tm`y0o2`}G6zqsn!BAAB5tiqErB(f(J_zE;ux@&s>xxuSjU1aH4x(
f+%qdHbD;_S$E8`xh$OBhmiFiuNBo!`oji@vrfm{|wX9F_Y7Ap?u2B^4jxI-VkG2P~H^rVhPG$660Ssd5*z&
eTUO|1Si@QL28Ttj(c!<U~0KYrp(c<61#o4eBIRIY1+@v<w#!$HI|d{_YgQCw~xK^A42{P<@=)X-%ySO-|s^
?5kc*dx`^?Rv<^dgfbu~3s4PR{F<FKr{xp=gu?)aq63V++24<$~S**QS&(`2tJ<BI|>Ri9yLLJq!IE}iN`6s
CBx{meyqsfl-ah>N|#4B$q^S-6bi?%NF*mp%euG#lwf6(%eWd9L;u5mFJ{=TiurRIl6l)2uiXLG%!%q4lixg
L&`&$T7yLOQ?VW5;$dS1WQoROb4FGS_>`T>ntydS8+2@TBMu<)f2gO>;c#NJAPe#Z~(*KgaRyqwMMh39;=9D
=QaXu~!%GwCuH4mRq(>2GDT!jGd4{5PKT|bqzlZHdyuPQ))F5NOt>_^qd`=21(@6m~`nb*>d~=C4Jv%Lj?`o
SSQ8lwUZqZQ=hgIyWJm<IEe;O4Eym(rM7tz>b-W-T<>?9ZDiTFxO~N4URk<oX5AVFA8jN~+_goyjyDZMaBcW
boHPt6o6+%|jo322LJat<hoNtHvF*7&HRg?u<HvN4wL~--M1c{vcWmIm&Ze~8j&JfAIAun#VblZ}YmP{LDNK
=MGop@bdqF28ea|I8DYpAb1ezc)34AxHYqJp>Q8?%mrW#fW3igs+5)XPd-Jxwe8bC#l%GRAk_F$ZlZR%}oCM
5Q~HYIL+-`--q?Ta8QDVGP9>i&Sj$|-9ht2E7v%3*3RDtdbMSyiRjZE7Je@6<v&j+<>!?gmo}o;ycWeZ(>0&
2~Ikk9T93*GZ_TV}dEYr)S}h_;ic<q#MBP4A^HBbYeRQT@cE}9*nDY7{p1&wdaBzc&;6G*dkkVxlYWa>fIpR
4xl5dvgh<|KMcFT7$~)8*0}kjMYv+P*D*}r>r#K$WFsw$Rj2gW2q2d@U23x%6UG`f<Lb)N&1L(=3#->SAxUg
P=n1&3)r<+-j(3B$4c=$B!(QKssO<!<9dA2*vzB&k7}MYtt|g6MenbamCcs3z3FF-+yPYfR$PEm7UT$5vaP#
__eXF&2^@TOww-ZK&nF{7Xujx7XIcKcCV6U#NEM8i(nNX|7lraM>larDiluPP!(05^Ni~58MyK69$ys^}}y|
}uj34~O*I?JcDG>L?)OtAPa8+WhCOkg?_{eX*&AGx4>=y_={>Vg`x<tiyNO6JSi(m-nxg?^J&+d<672sey3Z
5}zfCm419GjG&Ngw;5@H>a&bI|MW8c+|%j<HbpAs!q?SG%!9|nMza3sPb{>-sGL;&?kipiohU7pO=N%QUl8y
AuoWx@;OwmMM)qkuTwBeYBGav$nlITZt_!HzaYo-?3vlqscSOTORta;?KIPnswE0j46w{FK$2myNh1r4P#BU
7yg1qmVj3l!h)5;Esu?2<L$JytXeP^q$!cKHRxjPQTQ^>^Z(X?7y19%FV4SQQj&W)Erm^kBMtd`iX~3Ludoz
TpE{%=)Nm9iHNPa3^MQ(i3g&{?t<%xlPuia&74pWE8l_FCa#1~5sQ#f`3d@1L2f>sx4AsLp)QKV~&m#*21m#
?>gPU(y!KbE*&+;@`prkc9aIxTm}+J-7xc_zceE`v(m6*0PkLh9yL=sSrAxFKz;Thhl+C3jK!8ZHU<t|l9*t
R}m+baSh3hY^OK8ve$2O`V2ioHWj!xmOw^);;uwnVZ+I8|Tg$V&K`+*1p5?t)-RAt6D_nGYF*s!5-+ysIzNk
5gRl~mj|0n)dmn&y|$OKeClj@!Ny(ho^CzB<vcS#6go4ZPB;i$V{+aAM~h81Ma>AP69EA+H&f!&JpWx-FlL~
~^v<)n52#A%K5v-p7ki%0eW0ghOo|Rb?^I>45`xOOGnU0hPIvUbloJ_D<Vsn5XdTDQ=zqA-K=RqMmL6dGgWP
)bvVbVaa}Ay|as~;ZGN9Cjkd5Qbj0vD5f;^8x<;y9w2X-hri`fJ?=}_=J220?}#A+B1urnW%ExiK87$~34K_
9u)X)TjF3fHO4AU5JW>YFtj4({!JnF5w$$h-k=!A!ahh6fxoOP(~I1O0kJLrBX@Xk-U~wgb9t)}XLXqnLrGe
8QH?y@{$YP2N=?1%=8^l9I7Bu#$t7=$4t*>w;W43e<dazd1keVG4|V?KK0pam-9Tm{S2t3=mM5tprga`pi<S
iX=rAvvfLY0tzCV?Iv8)gG8yN37K_Of+Y*&0#{MEn`t*Q=8hMYa$K%{E!FEf<AgMvl*h(8&QS4lQ3(p_l=GE
PQ`OW9x2T<j06W``&*idI%naT+wSY!u_Z{3d01&`v@353+B%4lRxUj%M2zDRBga8BNR0Y?Bot2rh8HIciF-j
?OJctC98#&KWjuwgnfF(JY2jSk-LEiZs=*t7c;(QLn@Vq<NmjtWj@L3Em#wpiLcTdCQEHNdK0EXwiene@n5B
%MAlDuOg0jr9-(@9vE@enKHOtXdvz7I_EQ~?24Y~RBt_^LtunC@X?rTZow6tIJnjgZE6h+88BOc)FBm!o7As
jh*k*e~5|-E3XXa9tiZkg5bmRF@}V-+`b(@^P9JLM|x{HKZ(lkV;js9l><!YC_;_VdOxL9zh~zQzkzc8g6c>
t5fLUR>aooHR8jDWfKSSpegYa<T(#ht(gOSifyO>1P0WR!ldDc+n^<r+uV6!d)(j{nvvLaP6x8<6b34wYKjf
WcDTG9Fd8rH4boDAyf6%=r6l*lX*rte&<_CB_}KkmHRj?DY*qr;cIFN*CUE0Orxw!afF@HF2?EAG+Yn)ZVon
vrDg?(*2}KwMW2;gaG&M>`O;#GUf)CpO=p!>9<Qig2%sZB|G(98|w*j<*=`}QS9UjL_sV9l0n7fqwtQG@+tK
dF~20;M(5_M-OtF(=!sH{E|Ep8>5gQjqiZ=;nH;-<dso5P&mr_rX<k69j1HoX|PKQfmWU?7gK^PRi4CFN7zQ
}U&jnscX~2Sk?&y^>=k-pUhm0U6Az%$(0>@>yvZDcoV%HzON+L0dVbq0RhRIi5D1RswkevS!CYjk2R21;7>0
kA@r$6)ZW7%%NNRM#&Cd2^v+dm6<o1ipP;&Z1gcLzbX$tUR9wVS7WLBRqO}l9K+9YOc@S&cja7Xd8O5QaT&o
{oP_;;&a=`w{Yj6g9rnP1K@s#pXWgg&v#XUItwc^R%(x(_WmY)HAj3=<6NS@Jc@_#5U#KcS{M-*l&7)r6-jX
cl(Yf%)>3vWKGGHZ~+_3Ixf&k^j&Elw>ZhK*jDtU2fb<JMAzIds%3K?|hId_f#?&UWqN`cFCjuSl3Zf4nyem
s&!{nS&%32ccEL%NgHOExK7&uT`OMu?l~iHsgUT_)8WFq1i@91QB>cPZ`LsjIS`IwCUt^o;FI^n;hWIPECig
A5Boh*h%igNFfgL(T)mG0k4*fy%xiz|_TIi|AydY`dm-eme9xOX-8k>N&gkAaK`IGW;IsoUb>YRTnrQlr5nC
9F*1M9)n`t-U(kUL@rMr{GrgjecEs#H-U`ODDyC;D3z=|*wft-mjsh!POY7DO#T0#UZrrQ>M_>D@Q9YmJ7eK
ytLhw!iBm)XGWoOSIdXsC(YQ^6L{)TFscAZ`KDescHdN=|+T%Q@MBIu1t{(r$0IrP^&t=gERWa3SO;DvF_t=
HMdEsUmo2?hCP;PYul0`Uet10mJp64y=2!if<_p-+YMoj}VxzB?S_Sj-V@MBeN%=z*Ayx3%W*&bUCEN-i_&7
l(c*ZI>dMoxi#n-1h#SWVcX4}90a;Ar%msEb*Q<G<_(sIWCCKCqHUyk$@jXH2$3NQHqouE&!{*xMPg1HJ(uD
-Ht{b?)!c-`?Po$y|yp@r{-+@V!7YP^DJ0&#YcEPqaza)ajH`64gagyrD>ozqdknJS{q?)jF-LA&n4i5fJ&W
<~2C(($Y%HUTIypECyrP+M>Sjmpl^X$CFvAY2CQIc;jjoIE7)*z-@y4YzUvs*Bbl@TXrxXf%UErI(9fnAa9#
Bd;_dufENME6qqA@BE!yu_<I~H7ws!cE0<dGadz$~i9ytI8M^^{qow>M9l5nVz)Lz4tU8N8_5Hm{qUWZ1*+I
FAvn4|=uu}Gx3wwo3GnHn1lGSKdf;GkSKPf(qA_bMT!53jF01T$rFs5dd2kcoB34?--@_Xot1^)V4*9%<2Zr
k`S758$|i#M`<tP6Wd;r8O1ePiiHi^z8i`73~+FkKiib!zU~lmIf}DrHs75a%fv2lfTifF_A0vjNC)#eh_z-
04~IQ#P7w!BQS079L4repfw<4@n)O&|)>JyiRjmJXD9dHX^5IBcuxOjlvX0iI?O!=E7Gp2~X^V?>txzAtIHL
bdy22DYLf}6=IT%gl<INnkYSSBE~IYHlmVXv&%CH7{s@T*n1c5+K%r-npt<+U0@4fU`TS9kYw<dXeVBTZNT~
4rv!JlBs*dv>1h&C4?PG=aRlK2;d&;`^*AQYZoJ!rAMnzcNTtf>5&s1%R8Ni
"""
CODE_10 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(37, (16, 21, 54, 68, 80), ((9, 'places'), (46, 'places'), (61, 'places')), ((93, 'scx_bpf_dsq_insert_vtime'), (98, 'scx_bpf_pick_idle_cpu'), (102, 'scx_bpf_kick_cpu')), """
c-oaxu}Z^G6umDdO$5OfO${!kAl6Z8X9cl~bE<Q&zu@rb>?a7F+r<wEbScC|XLmnB3K_b^ymwC2lrBC9hx^{
W=bn3RbX)AvM*%Q72ex?M3TpA>cwHFGW{7=9WL*?Rq@;G9%FkSdf(K6q78lIZbMQn?z0UAWmC4_=@txbW4AD
+KPhWh1&lMRPUDs#O*N5Kap|I~B@=p+t+y?5%^Vt_!m6*Df-j&s5V$^^A#8=d39P$<NM=CGO{ljg()t79}xY
VC-@oB-n#xG+<G6PR2P5XZ8G~}|x9{X<A?{~>VA1B?Z`p<q+2Xlo2f`mLV?>Fo80dUE_u|i%oN881s^ceq9a
uaZmAWFHfp5i>-#ylbC7{1y99lu!Y4A?)xo-^ikhQK!u{2BM2CB#S0TiRLLP~7|6o9~k^sQFjry$j}8s$YNA
pZAn{pNZdR?qpT
""", """
c-j+SU|^5};sPcHFpvOZH6VTh<tqTO77%}i@-={12Z-62A$$)eh<cDbNJ#_}s(A@e`F1u4e*;uriXFmdV21E
TI3QdAZgB_Y
"""),
    'struct_ops/dispatch': Packed(52, (4, 6, 42, 88, 131, 137, 146, 163, 165, 176, 178, 187, 195, 228, 235, 237, 265, 276, 286, 306, 308, 317, 325, 352, 354, 372, 374, 392, 394, 444, 446, 465, 479, 481, 493, 495, 514, 516, 534, 536, 554, 593, 597, 616, 631), (), ((29, 'scx_bpf_get_idle_cpumask'), (78, 'scx_bpf_put_idle_cpumask'), (121, 'bpf_iter_num_new'), (123, 'bpf_iter_num_next'), (144, 'scx_bpf_dsq_nr_queued'), (153, 'bpf_iter_num_next'), (157, 'bpf_iter_num_destroy'), (174, 'scx_bpf_dsq_move_to_local'), (218, 'bpf_iter_num_destroy'), (220, 'scx_bpf_dsq_move_to_local'), (231, 'scx_bpf_task_set_slice'), (251, 'bpf_iter_num_new'), (253, 'bpf_iter_num_next'), (284, 'scx_bpf_dsq_nr_queued'), (295, 'bpf_iter_num_next'), (299, 'bpf_iter_num_destroy'), (304, 'scx_bpf_dsq_move_to_local'), (639, 'scx_bpf_dsq_reenq'), (643, 'bpf_iter_num_destroy'), (648, 'bpf_iter_num_new'), (651, 'bpf_iter_num_next'), (656, 'scx_bpf_dsq_move_to_local'), (661, 'bpf_iter_num_destroy'), (666, 'bpf_iter_num_destroy')), """
c-pmCPiS047@v7>|0P<s-OWp4P-Bvkt%BIZ1jIi?679AA$z}x)YivuPm$EgOKKCH0)Ie`h{DUWx2(h;w7B+>
2my5OFrAHwi1U>ZVNqTCWneR9I-psyzo6`Cq%+7o>-+X_6-#76Gnfihi8Y@}G4mo2bF<ue#VTT#tuxrlqpU~
)^$f>bDa`#Zpr|uk6^UrRod6^TvwM_e0#T^;7|93^Nh{>E7n}WX}u}kM@U;W~qqNmv#;J>ft`4Z#?zY53s9G
$O^(78*)M89@i=q0{-|37NI(MRi9q32y8>1qb@TqJo`#Kcwedum?4en*YFIq<pur<ylOEg|14WFKzXXC3w_6
2;%Tug;yFqV?(+=pUQ&pg`lAL;6U&m&K=SDZc77(MPTQa^K71lfUJt_pJ#g(v?-*n~%9CCD%0{u|F?9wO4%A
$T}CF{4K|qBIl(Ao_rp56?T!PDd#-)rqY}2uKm#3gx))3SAU!Q`eI>0MVx<w{IDqel$CMw72@Fq;<MtAe>&`
~?O7m-*57kHl8e)sU6<rI5cYUS`R|0HH^HwyLVgN91>Y~h7xCutzew&Kk|+NK?779-_uLo!8xGmwn)s_JJt=
PdEsCpW)^AZ9IV4Y-HR;~nFg_I@5s%W2L5<cM$jgRH>)NiGuIC>6ko5WCo)NFhi2q6-<xTJ%&1K%7j<ah`=l
S=X^jD$5CNmjzzWe?k6=f88a6#aJl5^9P^S1B+PvSF7d|Kbe+gbA|v%e3M=>83|!(`?)C3g$B7hHk<xp@7DG
nQOB9*TF7ztD36db*r&VvOjvUk2HkSiG?D*54ug%p;Edi9Lm@o=cAOPu^7XN{akgN<sd#CGXobZUDazW=Y<x
&`bWRUnV|TalgEw1LqOn{>;8QCvp0`lp{q71Ph=Kz>X=R&&?p8=5g;C?Atc;ILzA*D88HluJiGM^xF>bd`jb
Og(vyBiF%;tOKeZ=Z!p4Be~aprhq|;}phB?-yd8AX@%|V${n*g!z_%3+TuLSTRpYEb0e#(%n8pF6?@!QoUh7
MW20w@RD)kN4d*H#kjR#lB4xIL#8wu-}s=LU85C;jLm$PAiFc-naQl<-DEZcZ7MDjzP&ud}b=Bhs^k{`B6o=
KjK$CYIhSNv^~PuIZ<ygwEPZ;L9zkHAms+roKmpYC|`M<PAcXNfDk8Dd@V;5{A}C$_w8Jebn>W8uNTqv1il1
{~mo1MPayt?!!!9w6VnH1J^2%$Je_JU~3x;je=Ux;M?<;?cUF>Z7>O^*=!UZ{x*D#-er8U!XiHyRS2wj}ztd
HTbw)^3=A|EcAF^^FQ6e-%a432mXcfo$5HBdaUw2-N8ToQ1T6QoX<Q~`EninrT>m9pXVMjv#&$Eq3#A)-#{K
!v7SZ0r|Ip!I%W0Mh)-R|Wj;px=>YOn5r1ng`fBXYFPL()`|9biKR5d7$hy&2WBokrZ}-=_4_eI7du<8*t9}
oaINonr%Rf2GKl**dC{FzK{bTfAbK7-BuGDcZ03P|5&3=3IIE}xs-<a;(=TJvfT|vLs!n<zOCB52lWY@=Ovp
!af@V6T<-KR)Ofc17iFV4Md?7tOnmtODMqE!crWEZVZnr*T~yn?>%e!x9iKOp%lJR3*8IIkw-nT?BxLw{PIp
H9Xr>wJftR(@;T_2)JJ$z(k1Dc`fnc=gEg6_W9+r+od%c-2Ebo1f>b81H<KbK@NzV0{B|r{CRK)HzLG<6ZtQ
fWBZf@?JOa3-ajvkhtPR?$LP{y(bmPa~Zb=enr*|{2H_Hivz!&ipMV-mwMq?e#pYD8s(>aFUwzLP6<}eTDWz
!8*a_~&$xB!A#rQm#Gj!MA9&2Y2ZjB(esTZoplQ#hWA>eC<|V$T<Nlu!`_AZc-eXTtU(Z84d`^tNVhrDB9Pg
Ze6Z>iX-ui|m{~sXD<{!xQ{{Sd6$jk
""", """
c-rG&XJC+GU|`S@W&i^K1Qq~k
"""),
    'struct_ops/running': Packed(75, (18, 23, 56, 72, 88, 90, 96, 128, 130, 149), ((9, 'places'), (48, 'places'), (63, 'places')), ((140, 'scx_bpf_get_idle_cpumask'), (185, 'scx_bpf_put_idle_cpumask'), (191, 'scx_bpf_kick_cpu')), """
c-oazKWGzC7=Q1QCRQ3QX?hY1rD(;76f|iE>7Y_4T|{ZDPT_2&Zel64$4x2@Ix0fOrWwrW5Qsx0f(RWm7P2_
Hl|qJY=l8wecOe(g!3W28-{1Fpzwdj`JEzQYw;(<DI%H1t+?j~(&z=S>y9dzImQtrd5EQhEthe;Bsk;Y#oyr
7ca1;V3)UuIn$@3bhTd<;axPDD@{G`zzC9|eNArX!9mU^g{RBDrPu3iD&GVph1l<Yf&_)E|$$rSRWPQR?w3C
UIx_#Jg(aIud3<Dq^_@G)a)jrfWl1Z>~9H;Cn_+Yp`b4`O(0%f8GXQ{mQ8$5C11zpPX0Cds14zT<q^(<;KNK
V8%R)327sxg3SUuEed0z55P&k=n5r(+B$_WLI#kTgdbC`x(Rg@)slLW~?C(%?$Gjg1ypL<M;E;Oz3Beqpj$<
@{r@__!k~;6a4viYNl>c`u11+g2b1b8hMzb`Bm7TSqVk-1qL@ocu!@{ByTN^^R_MU*-k+AOZ&$EVjFRtH;_B
z=Lz&zew#jTk<O6plJF>X`=ujwoAKly8(dYfJBcUYk*w?q<3Cdo#_6y83XreVgGk=Pc>c!c>4VIZ@Z^`jqmL
I4jdZNLuwOki`}psBM%w3PuCjvT>=EuwTKKKYc{R@K&q7brT=l4OI~Cry#aNuSD|Pblcy+uV_l39W1@XU*>f
v1ON`JWj6<X#kpj9oyKR*`FaZ9xLpJf=gt8q`OvacPpPjcj5GFqFKiKSH?v1?lV&+^(x{tc2-MY+Gk3%_WU)
FkGi4qii^JKG_@=!4flU%oBi0pz)~M&c(_E_$!R_q`_Pc`o%{$=v8;sf&H>4LNUJ4d;;GmzD*b{I0y@_yf#g
*!Ma2XAt56jvts0>F+0ze*oaU+ou
""", """
c-rG&U|^5};wMZDU?2eH7eM(EK&*x&uK>haK>QiX*8pN2AZBBR@Lw=N^naCrs%M7qrPv{S2Q)qa|Aq%r
"""),
    'struct_ops/stopping': Packed(77, (6, 8, 35, 37, 49, 59, 86, 103, 105), (), ((80, 'scx_bpf_task_set_dsq_vtime'), (93, 'scx_bpf_get_idle_cpumask'), (96, 'bpf_cpumask_empty'), (99, 'scx_bpf_put_idle_cpumask'), (114, 'scx_bpf_task_set_slice')), """
c-n1Ju}T9$6nuM^c)5TWqj#L5#8hf0{y<Eport1V;fxSF4OnDJ6(NY7iXmbZtHeUE5Mp<JhLE4Iw2QktPw-B
+8Qy!lGqbZReKISo0V4_AcZtSA)pw|uQ$!7g0mWC4iPuw`KzWn{w(lo34sD`iT~FgcbN+K|=B=KYhbIfB?`H
)3R8j9bL?wM*9n+K32KdjFzX{Fr@MU;vs<yTMHS0Sc1}m4SJtt*Q(UG1+-0!Q#Sgp|+(YC&~fZm^bI*EIBSw
{xOaODcMqxR{J=i11V`+b*ny3i@?aIR|an&wX@_&w%7d^h|<f&4rd`9wGTUaQRGVqThKzaqg`X1>{h$-A(Hd
erHGAMsGLjCoY#x%VPsb#4G2=C3KV6h7zKSDyV?>}Q>I!xi}8c@zTMIpiXr@Q(5k|H2amKDUJT6N~@e>*qgt
0v}n{(XX_CdtxT06Y)Dn^|*dD3*BTtWIw*h((iwk^buHzyl*+LivzKt^R@7QN5wbOPm>+XVQ9s5Uzw-F_zhx
#c#{
""", """
c-rG&U|^5};wMZDU=RW2f0cmnJD~h{X$XG?8b5;x!k1!)@E1V&lVl-$0A&vb-~
"""),
    'struct_ops/enable': Packed(83, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<0yd2;~cMpzy1ue*6c~`xim@>`V*{KmPy!FTu!w0$PC>B(xn!*aK-%1}3n0B2-;CR9qcMgKU&
wLe<YN1hrpj1z5-aM5ws}3=BZ){%?V*n+l}?aD*13
""", """
c-rG&U|^5};sPcHFc1J@H6VTh<x2pu77%}i@)dws2Z-62A$$OFp94J
"""),
    'struct_ops/runnable': Packed(85, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawyGjE=6uoyd$tnmYOBNQJ6h2Fdu~iUkY&Gda;ztZy`w2oyH9ugn5DOu{kUk$Ffi2RFb03M!lE#7MaAwY
&d-jZN0WaISRNU~rfagbRM>ziw9!CIc=Uj#mtQY^$Rtj=ZhaTfhb#^K~SrpzQzX_6lpZUNv*&(ZiI(xMcKLa
qPTz40euPb@K+n{p~M1LZ@ZyIt>eU@E-mB+$t@~$`+ak>Aq<+qxT8j4Z$eJmaAj~>dMz09Y|eg1MsPcxlMeN
h#|ckxM~$>(R-fE$nJD08cQ9VQU;nkN(d&-)Z8|CNFm4^{W1`_*~&RPlHb=(hPxC13k5A8PM}OY?=?AIN)j9
@Y2$jT3aPg+JFL@bO*jed#3c>ANMLjD^m5Rs02}_E7%
""", """
c-rG&U|^5};sPcHFc1J@H6VTh<x2pu77%}i@)dws2Z-62A$$OFp94J
"""),
    'struct_ops/quiescent': Packed(87, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?5ia<8z?!tEGPY2hsZ%LHO)U3=BX1|Nk$+$bbS`ffyvT9Vl-Pq(vE+z~YGziXj{-t`4L@Hlpj
7U`FNhD?{C5v;(YCl!*mmKTsV=1Y{3Lq8)1fZK!$-am5W_dJELtsZbgKqSF@n
""", """
c-rG&U|^5};sPcHFc1J@H6VTh<x2pu77%}i@)dws2Z-62A$$OFp94J
"""),
    'struct_ops/update_idle': Packed(89, (4, 14, 35, 76, 112, 158, 183, 200, 262), (), ((22, 'scx_bpf_get_idle_cpumask'), (71, 'scx_bpf_put_idle_cpumask'), (187, 'scx_bpf_get_idle_cpumask'), (236, 'scx_bpf_put_idle_cpumask'), (266, 'scx_bpf_kick_cpu')), """
c-rk$&ubGw6rRnG%|<Gzsf}x(6jA(zQdAJ}V*Uda8odZh5KQf*6vTAclS2J<^C0vjri%Fo0zph!L4+K8Eac)
v@FMoulk1y#-!waGDheJQ2ro19-rMiJ_su6OLa*pH+nZS-Vn>J*WLIeKXN0xF%UiLsrSrTm(EVV)5b}Vh_jP
AoTX}@<r=1@hR~_g$-?8(_4)PrWjs|d$-xabwN~=Pad_G^DBz&~OeP4B4w+I{sAvOs|%N4>^@vipEhKrlpuS
xr?!m;>S?>ipyJlod$p38ai;-VObvjkjnif?3lN5@?~$L9g+l@INGRA$@Ca2-B@sMFHDq7|TzvnhY&cY&7ru
dMNFQ4%$h0N*W*`A$xqn>^%SqNROl1&MQqmin*kTq6Dw*@;u=EA>T9w(d@eny#DsZsyQ`j=JA)pXEBwd7~VS
?W25!c~A1b2Yz+4Y@0cr6OB{P)6d&|@C!EXyg0~t@SU*AbBR{ap9OsPf#Ks9#`&7-D1rA;8}(A29jdFF;ksA
px2)@8p2#-yXQuH!HuzN^^5UJ|=Lmca??S~-XI`Rj96xi+*~P2kd^g3j<G{PH#XJJ;$iw|f+&>Z4y}ZMn?lA
A;pkeC$#{IxMe~j;$`vP#7d-Z-aPrVdRAAzTcGycJi6fdva?<JX6^RluBFL6G1f8?)t*ay!ikgpFNnD?L$z`
F!|^A77*|1j_G6<H6OMdp?7rTV=FoOjs{*L+9M>nZw=^LjDhetC@D@M+ZN4{@^pL*m^vttT6?t%tW#`dG8{@
fZDrZY<$_hNrjxNJsb5Nu!4?=%La{;`^-8MWdsJuO09stfqDH%zvF6tCPjw>*QNoC(o9v%<INT4;|g#%3tc*
_kW~opHjN^F;3$0v-Z4)M+dvOGl_b;xPJlr6KAtJYX
""", ""),
    'struct_ops/cpu_online': Packed(91, (), (), (), CODE_10, ""),
    'struct_ops/cpu_offline': Packed(93, (), (), (), CODE_10, ""),
    'struct_ops/cgroup_exit': Packed(95, (12, 47), ((19, 'ends'), (39, 'places'), (54, 'places')), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_CocT)A0!{f$Ol%p1*i^)7?PzR;u28vVIWa
i08EE5bAah&Aqao}BB(t~5PKvTQT1(ShS<9uNH9U|Zvydw>Ody(i($I=1Ju17NdAJkdpp$p%EceR?&KGS>R$
%c&jxYF{zM2LW)4h0y8HGgA<PF!i8Am){0mj5#>mEC2c*@3d;=`u!Y>5%Cscj4&<sXm!Ubd>Gst~V{!}Op0O
(LVSp
""", """
c-muNU|`S!Vm4+5FgO6^e`bR4e*m!#k~{!TFatm
"""),
    'struct_ops.s/init': Packed(97, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(101, (8, 29), ((41, 'ends'),), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaS<?oJ5V17vbn;z&E-H
cw-RbjwYUV_908DiG5q>r_Q1_q3^7N75!Ia_eF{Jtq^|+0z8J&@ii4CUOF{G{772jWhcR(5K>P*a?_UHphY4
aoy7}9gA>p(gNH9UoZ-Sc7gk;VZsQRf;8UW81I6V
""", """
c-muNU|>iCVm4+5Fi3#%KQlr2E1-N44hSCrQCkC5
"""),
}
