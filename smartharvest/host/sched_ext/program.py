# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
28bf08620ad4508f4a0c1fd132feecdec0388b832bd6955823dd19ed2f2ba9c3.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 69056
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNyOKcp;bw!F^E8bPIc5K*AvUbaBGu@-%h@^(fniMH>so6ClO4M>FNNa)aZO+t??dj>B?d}mtTQN3^1UV#
!JsAdq#76^$k*jac0zr;B#3vsd<d9<!z&GcZ_v+JC)m=R#ZI3iFHT8M*>iyrV=8yhohJ1nWSM)M}XDdX$X0O
1<3~$fO!G}})Bv;r3c+ZJBpD^bYFkVt^V-0y#&AAF6U*zqpe*hm}5wNiT8yYM?k1UFLufWIGEqg+H4%=@j+{
t}`AHsS9?@z+}19(4!_ov|fvD#yfX#2fdgZrP#3Gnk(vDY72_OikJEPRYC=L1}?%?iB!7~X%)`(F8+0&-3AO
3<p{-Bt08bPM>Qug+?F{t0}9Gi=@*?l+lHXZS1JM9}YVXZRU$&fh`%&*1w#c>fc$UlX|f7}{SJH2cYnpgVm3
GrX^3{|tu@|L5@F{{oGd#a{o)ahsVn*iUA^q}reQ5I%k(*5kSUYet>#*E5{IUl4dpxCroNaRxlNr0XAw_6OQ
tf3CG(M;dZM&CGB*&Xsvq=F7?~=gZfi{qM6%27U<*SFAz0Gz1R6npJ1{HMBiqyk>8}$8Tm8z2sSlm@nbKa)t
8-U!Q??v!ojfC>K}MUSGSS=q6s*UbD#L6>&a%Eh)J+zOlIsAOC$#JIl2Se1m2yC71|fwq`D=&b5x)@SoGhzg
W_T^0&V36PH+LTR*Gm<7?;4BQ^RuP0l|0ESIw_ZT!6Tub+d*>ow=C!}sbX@b$mM@qJJ;{x`4l@!d<}Q-*Wqa
X8(Y@%s%v{<voR7h?QL&G>4QkH1?p{^bQe{;X#FH!VJXP&59Gn|$1_8UK4R9@LEge2I_uEOL0YBxlp;*k0yv
j-b7>to-J;p#2@O#)tM$*qLyd`z>5QhW1$afSkj52{-z1nXmhZe_xH@<A=+Juaho$Hr8x@0w4dlY}nyqUQ+V
Gi8$0;>5MaN=F8_kzBWTX4eeaY7PKb<@7JJxB9#BDZBDO`AwX$}HU<W5XrCgk&|Z~o2uj|RZ7|L|(EcvAK~u
WWet~Tu&eOKC*WYO?eq?RslRj*7T7QIeYAaihbeBHt2W^w?&rKg@&;k4Zq0LaAdjr}()%N|FwlB)P^o2i{XN
UK{$@xI>|B&;c{Y%mQV8-0{s@NC5{}bi_`Q{c&{^qONzW>`+`~FPZSK@>F&djQP^}Wu-UI^#^U@fp=4&l7Cq
V{@aMeX&O6}8vrSJYl#Sy6j6SJYl#Ur}egE9XPIv%-0;IY5Tb_oT4RT4TElw};$0ev*BLaZY@Hb8m0+UBA2i
t&YF{?xT+HlL-vmZu>cz#94S0)4mfW@e%93wXAm|fc$Js$tXDWX`H7a&B&0Rk>^1)p=2BdJ?NluKQlpbc)k3
TWHh3^-0zJiB+JtYG?Q_5Q|oQrg#NIXw+_dHRu55j-hA|y|7dUbZC6ceI()U02iedU?FRm6Is$7a3bMTE$g?
?vC^*VI=X=C~*I|-GPMG;&KcddMGYF!LuCbAn=94sbvfil=82D;Szdwjvz5|EM05+X@0mfS+l3p58BtK4R(D
%c5kPx<ljKe+|g-2<She_=B!z?(AXrI6qnLo}`AQ6Gx;eAZ|J_B`>CX+EvP*ly1lQb7|fDvJSMzYDsr>C^%r
xWNHQ8{{=%NZv$JUWI|QP`uTpS|xtXY>3wff~eqVqoU`6AHZ5xFx#`-iXd=jH$9>arG~BqT{rMjq<@4HhNjs
>WTI+Uf2lxYeXkZmJvSeXOqM1EQ5W6oQghnFm3kYD*Pi6eNH1XjN#`JNN^etGCxlGaHu}cU|98%ILj5*VIL$
V?EA@piGjCPn#6>zF^rRw7$zbqN5R;Sl4J;o0Z~WpJXa8unZ8&a4jeZMhcr5K*-Fo2-32_h0>I_LkoxS03u~
Qu=k2}S$B+C6o89{ykOX#J&<U`epLeeNes&i3e9%w7myE_iO8p@2``Jk_cIS(!O=l7GrteAhkS{TTi3uQ)9m
D#5i~U@)P2>UwGw*fY+I+mT??35mzx~a9K6j9$j$0fogjtJg@O8)Oe$(&n?`?1G`|MC%XTe#5ksCK8I(RNg&
&jwCysgp`KG?4&6Um3Wou}K~ed9m~g_G01rDvQ-oRu9cd&brsw3rAis-s_$+4zzS<xB5MfzcW2tlCLp6H2Db
iZw8rr%BXe-F}?$H9`%uW1rhrt_e<qf2}+7mctqt9jqCA=p`UVgOEmOUBWESTwUoIlqOnGPm#2cj5-~M=`B8
K4RunepfC(#^<CLmwF+2S2zdkamG7ZzEuIAI_8|qKq%ITard-dk;v&Dm=?mvrT)n+|t58iwdZ`uiM5nF7q#C
Zo6$?B!i4kOyAJfzWAzZXt5HP$2P|bO?uz%j!dh}RRdbxvK>^0oyNd%4syjp>0!;}0)7xT=7bI{7rC@89w1Z
ha=*dM2qj>b7<CWXzHdc|=U+y}@bK-+1s&-KEG9?_h6NMB5F1ru;A%xUV!;JIRY;?6_kkfs?kM@j{r?C#y`i
Zv(4csAGNGllADKu+@lif3qlNpBbvGFTteAbl1d07<@o7y_QL8#eJIn#z_KgqBOAxWHuIK{Peq6kDAnsb)41
-*K88QlGIFT@Q`id7K0~6MmP1d%+)G({cI6J>Up1krDNV^M=!KLa)kxE@7@4I^Sj@bkn)r_Ly07Ha47F@O9@
7KxE9neam_}9b5cDPdDNrmFK*0rps1DgXdv<1f(=@LpW-$jMBJ;t}J$LtUI6%nJX9p<Yzm>_w;=ZgS>YPyLc
t2ERw4LWt0?>gWwnV$&e&VFuZuWQhGh!+0mv0qXkxrr?*NknCSsOTnTTvc9sR8wyy1YY~|v>{8wO7QF6Ytfo
qn`f3OBYuH3e1Sf7HPCTB`NgmVyDI-ZoYbYu&1gwqLnL(S<}%?i#@X5~6x^Wp`=X^2LW*@ZZBQA*E~EpS;0%
yl-L?#|}ceg9$CGop30Nl4U!M%wn88RkPEE*SJgXpD<qmy6{c=Ol>H(%p4<$ExV?%rJ{l>X4o#ao?Rsh|Fe<
l1va0REMW2%vyr-fdMd$rc6P4lQf0+T$nPXiRfYO5va4iu4y>-t&uv*N_2*kWE?<DPReGMR7@tZ$qA_w4Df}
w3cg~nwY9s~@%K8L_e6SBO>V#jX-7qG+MeP*f+$K(C@PB$y3CX6P1xZiJ2Nc1G-d)YvuDEK7&dO+hybgv?_b
meUd)?tWYL}>^AYKJ=VHdslttF-DI@bjGjeOz?qz#-+ur?#y?g1lz5mv-p?65~Eax_BL7BZJ&nx-KLkd$hle
@r-w~BoEI9PDrINyX90C{7Y5idZVXT?h}^`*asA?Ir^V#(#}5NHY8-)>_V0NWo!h>PUqGGOe(rs}EAgUzQt8
0aq8Ha51(qabqw6sW+yuACj}-UCD5FwSV23pMR-J@xN(-|=^Lw>EeD-G>lB1bLIk)1r1F&=o1_fWiq_a+;((
9?G7%rdRP;RCCaD7<r6%Mk5oAGRpM=RLV^1*m<qw!>Oh}R43vwy*QUhGQ~MW=Aa*kc{`W&0BT5v&ck>7C!6;
>j~`(~>fCHN0Uik)O9sJRl7W}O-1y`;fvzFVoW@O3#e&o!R<bNbn956Ag%uBb!@`WaJiU;n6nvM(y*V4`vxt
q`Lj;C!a31IN{cUi|+xK=lo^nsdo}|2(fOi<9*y^>VqR%KU$zE05tE~ZIZB7bmCGSOXY48Ng$cc&=zKCBmUc
!up4Rn+KIDk~%F0<L>&@H9W+PZ2&-4c>h0xrTWqf_M$EI-rJuj$bUk^*#{2S=-BaH5Qm8Ky{%E9WEP)~On4j
S|5D!n&%e>S|(lcftVx0M7{XDpZHJ%QGi*w;o?}x#W`9S1zCJ+3IgbICIfzOWB)i1w4qBvBb{&We9s}B`Rj$
$_8H4im>jdiW_<jPZ%uEgrgglIQ3Z_x9^4`Xf3A7dWQ~B@p2HRR&1u^;H9#npa%zJQI?X0Dh{YuC94P2YI$-
$3pAYsqvSdD^TdymUJ&tf6_tdtPOo!+VEA1~QyQiE6ljTSR;TWks#WERR-Gl_(}6v*%4V<o)w$N7-!IC((=1
SZVPJZIT2zXj1$kMnSvXe*Js9N7Gly8@!<|+gSr2gC<*K`9l?}eZUn-AZ&qiy(*OHJOB{cIBtm!iA395wOyu
7FT^nH*^|DDI3$DMm?#Hv7~78zDdTr4z4Y^g{i7jnM_DIVjh%Ws{gGrW*z3KRM@#-W}{d|6H1jG4m#ZMrK9O
b|h_RLU(C>oo4@fiDZY0KyHK6mYKJ72M}6XHm3S=49d%K!6bUDz5K3hIDjcqmVo#MxB(!EOxI}Aj}Zh0uj^6
<fP65!BEq>>P9WQJT1O}yfJml3e*&JVm{H1(&7{??<JEMh}tw5F<nPgl|i^UCJ1(EG^87_ir**cB#t5d)uTD
tWdw7gv;L;gRLes2ijwcSwQ&rw$22_-#u=~;b~p|*EDT~`{aeI^2Ng-ST-s>%+Heh}>%vP02O2!feGDJvj-l
e2)^%j=mOaU;9#a-@JOwrj<DPcAL0jePWxS?Y(acyS;!yV}P1_xb=A)|@FH>$+7{WCwqr?_P0OHSHGJ<?+jH
diOnMAxN#XynJs#dCW$%5kx1l%GvzjJQdR8$=~!deFPXs^?G@Mzzb&R(G8D8b2ae#2R01|O*4p9Ep<3Zh@`7
DY)v*W9Aaevx9;)SHq6vtn`1?G;+Itc6HmQ4tO&@Tm=1L<(H3^IhcDhq0bL*g?+cqg$ycu$7)AH_nssxMU`a
KJ#f8(L3#t3Kp|Siu}%Y)0V}hK|IY0fTvgHVvR*MOEx4b_rLPCmlfJeUH0qUiv+Xf@EEZ7B#Pw(+sv(}LI*H
l8aTLV(@T<CSyiGf>MmgLV7I&PcXzh8I$aQ=sW<s00C+Wc#46>;raK(qUG{_L`({b2aN&hX6-6zJu?10<&@I
^vr?Z~Q7itMf>vaW>-=C9u44B9)lPQLE$!=K7aw=@o`UOkqx)C_1?Em|!{1<eBsa{=xJpkEZ_k@K-5wWsd=+
!+1&=B{<Rz#;&Z?L?eQY)-8lyJ^*f1Q3!j;7{lj{^{N&;u~Glc*0CD>!pTK{`b7xq0!23pnTHZ5hIj6ILsQ0
B!&iS)mlR(>!=hw!{TnuWMfPj&XW|Q11g6Nvy7%GR-g_p<_LzC+M*6{IFQCyA&y2{&}K<3mS(?bOt997kj13
ZS_o|^ZY~cav--GGS3Deou}LT+YjINSWQbDn8y7U$k!2=6=`(JIY$){*?YO?6D@WIRGk@Zqo%a*`+xqb$Q$Y
&#JWD+V-@FJV#KSf2eRW-Lva~}v*9)J{v@PXkH)!9Xw_*@y6C<<saZ9|#9v`%FS%QeyLNtsz7$IGRpQA)^g#
MC^={*!+Cb@Ef?w_TRYX=!BUEfzskE@QhiAUL7oL7i(JC@J>$7D15r%b#Kk^_Ryn(<VEtNl|*_Hm)>|-vyl0
#GsAv=00+(iqXpCk}3#3CF=1D+pKCksHpAQH`zSoaWO*A3m%8`vy>JOfb7<|CSA=omN$(D`65o(_BS1iT4?#
wVGRI0|Efty-_aRn>1W6&b~b1_LW3(Om__2dc36^UCxzG;~VuHesoOLa%zljPP$m*31VddLkNT4?PR^mE&_>
-Bo^~^Y9)R-pX@<n(@^t>qW1~w$v3&3L(qkWZ);0d^~}y68|=!>3}DO*jt1p<;UI-_q{j$w|4ioI`ZDM^r%2
seK<s(aTv2Fne7i}%gW3p9?rhbx|LcqF7^nqY0(?D8^EyiR3IYM2UKiNH?u!3Fhr%5-DEw6lweQQq{!pbG}S
JId!T%<6?l7$R2P=Cds{U`lDHzH{5MR+2LHo`VHo!b``N>1=($>xQFf%}u_^2}99+8paQ9({$iF(_e;fh?GY
=!SF2vo~(rMslanY;95cjDF2hIi2fFW6iQwtE|ngzv)Jj`sD&q)((5I7|~Z_2Zu=oxkG;!6spsEl~cI?Xeb7
w;utucI^=`527E_-7?W03!ZCf=4U(2RnqjM8b2jA{Zvj4H1#wkRnzmT(H?6t!Q8+KpFlJGs4$q;+70=!X!oq
!SIm9I#|ThXq<h9e<l+|5$%I}><tB)@HNOuDYzmkTqQ=Gm#|6&|5GJ`j+3aODJi@u(My7aJxoZL|0b9;5>9;
5I?OWC8fIrB_yYCKh@`Z9RPO%)O5t3w
"""
CODE_11 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'struct_ops/select_cpu': Packed(22, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(38, (16, 21, 54, 68, 80, 82, 99, 137, 165, 229, 231, 307, 335, 440), ((9, 'places'), (46, 'places'), (61, 'places')), ((112, 'scx_bpf_get_idle_cpumask'), (120, 'bpf_iter_num_new'), (122, 'bpf_iter_num_next'), (219, 'bpf_iter_num_next'), (224, 'bpf_iter_num_destroy'), (226, 'scx_bpf_put_idle_cpumask'), (280, 'scx_bpf_get_idle_cpumask'), (287, 'bpf_iter_num_new'), (289, 'bpf_iter_num_next'), (409, 'bpf_iter_num_next'), (414, 'bpf_iter_num_destroy'), (416, 'scx_bpf_put_idle_cpumask'), (433, 'scx_bpf_dsq_insert'), (501, 'scx_bpf_dsq_insert_vtime'), (506, 'scx_bpf_pick_idle_cpu'), (510, 'scx_bpf_kick_cpu')), """
c-rk(O>7%Q6rS1m7p1bB;$SR6Flm#(fi`YcArAZ$5U3Yl;zn>;Rt^fyfzT=_8hjxV1;Ggr1=JIci<3$f;$SH
~SlV1bJ?7}DmmE0wMk`gQH#0Nu8+&K%O~Rd#tmn7$=Djy>zW2?pm}Gj0r&A=omq{MS^W!N?uN5Bml=L@APdb
b}?)7?k&a81w{?wx!qlq{>r{xapM1%a~9ebVfx6PG(TI-i$S?wV|X4{Fg9r71rY)R#HVUF@EQNHab8RCwU{Y
la*u>`GypZg`o9!lAYnS3AWyp&Gs|L*IrA-^+9a<Z@RM?Lktdhx-?y7&#~GXDo7>a>Hns$QxT-X{6Uv8<k-a
T4rRDQ6KkygpNeAJnl{+~)t~d|D3eE62!z2R{pV9$qI-kZhlVU7YN8P>)GIX5q-o(s^704qA-PYc@W5KlxZ_
e+$@GY)@N?x9(^;bq@J_a7If%PWsf_B>#w$V;}y!58>ziT{@>l(ifAA^`xo)3F*tKW-5<(C=ckOvVSbt7dif
o4m276nv?%uwEx=0ZIZA2PV&V&ByW66a^+_&ugPPU$J47l(V@JWIJX4hrA1+w?~!cbd|I;1sla+OZ}e6I`~7
SmcyehS{E0f%VS&^6)e3uBZ(pJLHThh*s21)L{^75>(xp6Mx6DzmP#<R|P<O0bOpu*_8S7+wE2Lz;M?SONV?
ll}Jk!R$mN?mq2GuD89Qt+CixbXOeNw=;O3|xR{<pz%s{K`c)})-$b)bE(Vtxzr?lSUkc1QA5Kkwok5As=g9
?zfeYFS1dwjB6H-P~E^f0g9A!}>f|kwbHp9Bv7?4%w?dIV*?yucUhcev-r^?mNiSteddo^!*lx^H435fiAWP
KR)X1z6m>yIBy^h_HFFe$KVIL>hp{o+Exx1`M803E{FQB<Y~;GJ~7BkG0OPdz`xed592`fjp>65yVbLB8(}B
v9jhOQ@SP0tR0Q6|Oh@B5mq_+`R#AtzvQPCUT4$#unm_;IS&2X5i*ewuwnDmS5<iGr#23cyHxOn!k9eEJE22
R>BW@D!cy-$E#~c6j^O#oq$39e_shiQSBL4&W$qDpR3q1eKGWZ<*dihtve^fpOM=$06>c>~5$V?vG$0k1$U(
_j1t<VYaC(d^peo}P4{>CA^xe?+`P8V^tK=n3y4Lq1*pR!TUhxv3jf=~A>zb4L+`7{kaO@mK=!n!2*)b#CK1
fTv0K23!9w0bl?6^*WCFPh{x9Op1UL+>$$7r(^&1^Cr#P`z%0uVUcQH3$6NpgOOX?Dxv@H1rALXQOY8frrnV
`L1=py5Pece{Upj8b0@nHV>AI!#o>{uunzUXCv&Ni?HWG{>JmK9D5(C{u<{KN4#f3{*;|{&y+&^KX1Q>hWBr
98^!-oyuXyDe(Cf63&7Wny9e_)c&5UxAHw%ti$8|=Hj>9Eep9{BJBnwif7?${oEiSEexGb#9qcbKcKhcGy!k
)a{A2jS@W>9%YZdF(l2jMd?@@hpzxWY<UEe+QVvtMR>jmSkgU8F>@VPk=IE+Q$Fcq|)9^B8_K;QZEAw19jk7
tdW@9<uYdmzqkTIb|nxACEPUw?O|llaccTHk-h?oUSFVQoJ6KIFlB4tRlk_Aj{SYOw
""", """
c-j+SU|^5};z>*lU?2g+>OjoK4B;yPu{IEkLirj%tP7%{d=DmwdXPNGhzKTB^Ae!)E7>6Y15kMzb_o9kln=A
-2RnrC!3W`2a6tH7Q2qgaR6YQ0-wOi
"""),
    'struct_ops/dispatch': Packed(68, (6, 8, 54, 83, 150, 157, 177, 206, 212, 221, 238, 240, 254, 256, 260, 294, 301, 303, 331, 342, 352, 374, 376, 381, 409, 411, 429, 431, 449, 451, 501, 503, 522, 536, 538, 550, 552, 571, 573, 591, 593, 611, 650, 654, 673, 688), (), ((29, 'scx_bpf_get_idle_cpumask'), (37, 'bpf_iter_num_new'), (39, 'bpf_iter_num_next'), (138, 'bpf_iter_num_next'), (142, 'bpf_iter_num_destroy'), (144, 'scx_bpf_put_idle_cpumask'), (196, 'bpf_iter_num_new'), (198, 'bpf_iter_num_next'), (219, 'scx_bpf_dsq_nr_queued'), (228, 'bpf_iter_num_next'), (232, 'bpf_iter_num_destroy'), (249, 'scx_bpf_dsq_move_to_local'), (284, 'bpf_iter_num_destroy'), (286, 'scx_bpf_dsq_move_to_local'), (297, 'scx_bpf_task_set_slice'), (317, 'bpf_iter_num_new'), (319, 'bpf_iter_num_next'), (350, 'scx_bpf_dsq_nr_queued'), (361, 'bpf_iter_num_next'), (365, 'bpf_iter_num_destroy'), (370, 'scx_bpf_dsq_move_to_local'), (696, 'scx_bpf_dsq_reenq'), (700, 'bpf_iter_num_destroy'), (705, 'bpf_iter_num_new'), (708, 'bpf_iter_num_next'), (713, 'scx_bpf_dsq_move_to_local'), (718, 'bpf_iter_num_destroy'), (723, 'bpf_iter_num_destroy')), """
c-pmCO-x)>6u$Sp`2kuoW$3_2OmToh?WPs$U!$QG6Jt!pALt}*CR5s=Zpbu5e9l5?l*Ysj^*3EfF@+{ZyC6Z
6Ngf+(6BEOd1Q#q^uykcu74N<0yKmmTZ|2d)`jYl?|IR(<-1B|s-0`wZebwXZd$RQ(r+%@Ou{|#OUs8W6!B|
?fd6yYq-ZA@`v($PWEhM++XOerA#?wj0?zW5hg8ZMc9H({Oz`E)e#W^FQ9TM$HDQ}eaUFFnnb>3Egt)XAdp?
!Nro#Pd@m7FgAInKYW#y>qI>=9qJZIkp_fj;8+zs2}!iu(Q>wX3jeRoL4S+OOwze>F}09J@g4A;(*UKjGh^L
v~e<Z>aGZp}$-@*>hL*wVcThw^e`gy&c-W0RMCN-}X1;mvL?}MeF=;Vb8nRFYZ%bUFI6}8`^0%{MfUr&a0KF
f05IAZ;AYs>4dyR_)X03O8Xu7NBpZuJr>EHAG&B=B1L|h5pA#X3)w%7`DM(PreMcSvO8iY^!7i4{)J;ob8m_
C9(w}geLJchgI|^%$gfbpGz2-9sht(`9C1A%J~<}a(lE{UTI=&7E}s;i{9Cpq#QUspx>ULJGW6B^vgSE~+(J
~3gxrUId70wChu=%U!7Rr)FX9~7t=G-Ekb{0+tj~x~trcGh`jkTRTzv9x*`C1siO#xS&x-coU|qiIKNF1yi6
f1R33hWYZr)qmG;rxH5>I$5gx3k)!5$?3y}~B=qz&;*aU|n12|L4|*Rf6aa7g2o)*lt#{rHn3>>zMn%TxQ~J
PD}HQ~!^tA*D(6`gf%F65+k}9L>+P627a~=^n>hN&nh4&9`*kltVbP^~)eWiZ1cS8sevVn$DR<9C@9DgHk_u
$aMpM%NZU2TSDIJ(x1z?k2LTrlsqHHD^cD%6Xv~&$$L5WCfRYF?s2UJaobwYA5w4s8|n|GiO(Z;R`h+WaJoM
gs%$WoQu~{)r##S$d%7g@h|+Vx)bozGeI6$#PjYHsH|Do`JpZ*9H}BmdKMbaZmEJY*ng0RoZ)t3QK4s}OukU
q}+6%A~_j}3Zl*bA*Z{JH7dx7*5a^+5MiQ;q01%CKG`5SRny-fKyGJgg7^>0uf7V{TX+>u~Eh)dY*()<YY_i
j+0u43KR(|X**gN}bM`wqp0b0En3_oTmpw`uTSlD)>`?nmw$3Hj+f`$?@|WrQouKe`?%XCG7TIB?hHBpdq6>
$B<sX7b4t@~F%kv3}P))(?B#BGdj=_I?k0&uV)q!H4UZ-B5kf6vuNmjy>`Nr*)G(8v&l>#5Cf!UMEm~FQZ;5
rh)VKao?#XI4|2c?>6eKj}XU2PUlW=3ZOFTg+ZQf%m-zY54;<spU$tBL_TQ5Uv~r=_<hLJ_SUdp`=>ci{24o
6x91#JJkiaX;P@5PHx_=axQXZwJX9-$-+g)aFmMc<<`Tg1s2Sfw!1;*A_Y!anTyGV~UrF{7>3xgxUZR!mQ|C
V)`7glv01M(=@#rYU|AhNIv*kEpIbT4I+XP=p%igD;_gh;2$%uS6Mt<fL_6PbMi|kK4RQ(=}$WK0yeupFbQx
8?YmWX_LfA_0j&fTLr6!DaE5O;_toky-B-gSMGcEMxAR{fr^>UZ#@&YKc9;kw<2KBa+rUF(F-(eKXiIf+nyl
<x(jt`3bG^)$vW!v8@%jd!-LJH}J=-agMz_m-`?H*MWdi*-M!Q+2)T&26+(9qk7BL5@_h&j%lPm(6-p*TcWE
-<hskN5KCoAE3UfO`^_q$*v%dn$#0IujzM3&h<$zv0l#T_scTwcT4Ph!&v`IW53vZX#GB+-$6nC>f8w4y<GW
ffyMGw=>6f|&+i}E`gw}a`hXYbbUdHgyr}D?VZDDip0BL^5j`z@Yu@$FYWaile73KCN8<VFKkJu`=d*qFYm4
Wree|>C<s2&TOTbNzbK|}57tG(S^t(HaJg4Vpd6VBCkjHzo^*nFzSHJm=m%QSH&e6CFpOXmTT*j@zU!ie>zX
}$Aaq!n8jrq&wrTus;({1rqh43lgr}D1}P5`T>E#A7)jJHnx&%AZ)0eP#><e%<3Kkx?UZe`aS)phG*U8X<R9
J5|bvRv%@wbAc(4c`Y%_UG6Es>gZ#KIIGPH?;M4703JJpV&HBzmvXV@$c>=d-a|i{}&Z89>x
""", """
c-oWTWMGhDU|{H!W&i^K2vh*z
"""),
    'struct_ops/running': Packed(78, (19, 37, 39, 45, 78, 108, 136, 214, 220, 250, 280, 310, 389, 394, 428), ((9, 'places'), (420, 'places'), (435, 'places')), ((88, 'scx_bpf_get_idle_cpumask'), (96, 'bpf_iter_num_new'), (98, 'bpf_iter_num_next'), (192, 'bpf_iter_num_next'), (199, 'bpf_iter_num_destroy'), (201, 'scx_bpf_put_idle_cpumask'), (209, 'scx_bpf_kick_cpu'), (235, 'bpf_iter_num_new'), (237, 'bpf_iter_num_next'), (274, 'bpf_iter_num_next'), (279, 'bpf_iter_num_destroy'), (285, 'scx_bpf_get_idle_cpumask'), (291, 'bpf_iter_num_new'), (295, 'bpf_iter_num_next'), (380, 'scx_bpf_kick_cpu'), (383, 'bpf_iter_num_destroy'), (385, 'scx_bpf_put_idle_cpumask')), """
c-oa$L2MgE6rEkKvrd)BNnHmE35+S2+?u30^h9ZqIB*Gtnu3J1auXEjB?<(}Vu2_kMIbIzB1N1qks2eRss|(
IV6;8v*khy!6mjwaiB#gy6U+ShZ`M0&ZxU9rzW>bMKY#vz|IMsFCDc=2X6e_@v7CfHnKSgp<Bvj;!B4Eawh)
iPFf3WZc-G~QhJp`RzmgRqlmkVvrY!5Qzbxf>vU`>FW$DkAvXn9X<xjH=PQstf?==ed##Mat_mzC&l+AI;_q
XLpRyZ90?2ejm6t>6pJdG4Bw(lUGMgi-*hIlfFC$YbhlZbB~`C2TopZS(r=Q-(q=8*mPS7%txZ>tr`&+z!$P
DaSIhH4*H->!l8y05TYlfMy)H`9-o{&sB6f5&0Dci~4~cNTefIe#nfVZZRZH`^00P&|cqR6HKWi<xgYuX2=T
wEdP`jN;srelHpJH`(tc#AP9mb|Md`XO#bw54fI{eI=)?Pk_7ojJr2scVbuR>l3_w<HQcnw}49t+XFe?9>M-
@uxw-fwv0O$dtc9My`954A3soji{dSQ5B~K0;@A6Xe(_q5*Z=l-`>ngcvCDSB_lVQS`=eaP{4L<5+8a0Wgg)
%9vc6=oy}!wM$ZH%oMN~KHQ`&zH{YkI-P0r&lkFlNO^8VMPEUS6m{|e@}Fz<bcK1l8l@djUEpDoUhUzt{s`<
op10&wU*-BWS_dD*hzzs|Z>g}<vTuLIZAPc`|_7)fuA=gSFu>eI9Gq5mYki|`}sNTGW#A?~WlFM6HGZ)GqJq
JTW~`W@6CdG}s~orQHS2&4bB-SrIoKqsEb%SYMD$3r|`Y~GR&{U><_^JfbExQM~Ws(t@TKR1X6>JN?gnz+Mt
0v;Ma^q_P7)86x&J4PRNkq`f8?$^5;4A`#5ag+UiI?V)1JY~oG4mkP_vb%h|e)6lksy~V&x#;}K4&iNoa-Zu
t!TPgu_0PU|QjBe2y?0sOy^XkUv;N0Ne{mkRkO!ChDOf#%S5{44>3~0qa^-kGms}I4rJRX_(x_SYy4^nqU7V
Yl!_Jwxp272k3k&^W^bv4do-@w{@BKc$6rOQz<h5P3-&anopS+vE=SF{?pqQT;&QDR^(El~@XLy+1V14fae~
jDT>c1NJ4BX*;kXAokuQdD@#bxe)eO_E+e!G(6x^!=t{2U;U$LDA6m!t5n&#z^y6ZHl7*01pS;emg;pX+(>K
kDd!f7fj0|CL(_UIq^qt>438e5rXnsF?h>P#NS`C&fOOVn2~$|5S>-73Xb?e~J9*eNf&Nj%>3J;{0sI?ltAv
{<#<L*NFE|CwRY-;Qhq@b)C|9KaKB~a(wTL_<kC71rGH6FT#Baev|x^6$@dUmo$EoxTAZ2%OZ{)Rr>4BM074
2{djhl<B^+PqW-wZfi~v2VY;W-E-S{^9{1mx!;RO0pFN4sht!|A&lbf)6<6EQ@Bba?=Mmow_Dl9P>z`14XS{
)X+sg+-zhi<;5q&=#4B;1jpQiq#l+>FCxF7O?Qng0J^K|dGaPL3zzT2|?&-YXt-%CZojt9P@)^$E=|C0O<*J
%Og
""", """
c-rG&U|^5}Vm4+5Fc5(9Cow_z5<skuB(DI(+CVG{<!b=3E{KNm0~jIt0~8?q1}NW#9l~FM#s>fe6a>@
"""),
    'struct_ops/stopping': Packed(80, (6, 8, 38, 40, 52, 64, 113, 142, 208, 244, 252, 304, 321, 329, 339, 346, 348, 361), (), ((85, 'scx_bpf_task_set_dsq_vtime'), (90, 'scx_bpf_get_idle_cpumask'), (98, 'bpf_iter_num_new'), (100, 'bpf_iter_num_next'), (197, 'bpf_iter_num_next'), (203, 'bpf_iter_num_destroy'), (205, 'scx_bpf_put_idle_cpumask'), (223, 'bpf_iter_num_new'), (225, 'bpf_iter_num_next'), (233, 'bpf_iter_num_next'), (237, 'bpf_iter_num_destroy'), (357, 'scx_bpf_task_set_slice'), (368, 'scx_bpf_kick_cpu')), """
c-oCtJ!}(66rSC+y-6T4nAou>2!@;zs{C+5bZ{UYKN1Q^i71y`q6?xRB$p!^ES>nfLr@)&&`H<jf^ZN&qKM=
amP|>RGQv$tmz3#zGxL3G@2q2#kydZt%$xV#eD8g`BlE(H>F1Eue;{xALNpwuFG8Plg-}x>pA^=}+p0((hm?
=8A`|PqT9!Q_X0@K{!o2gz%uhcYG<r@r$m0q0;)9)rmX&+(x1^qwp6}T*^K<I)bUfxW*)7DmNd9G|JI2qpv7
eXB>t@}^fOc6wVWhA8)Fb;#`uu9tei!1p#>0XCw)6Y3^HZ1ihRuP3zZpj`j#}3%RnC_L<M@a(Z~^l}%4SsiP
sIH9(f|1^<G<_x*DUd?I;<n>FeI>k?hyB_0@pc*^^E7=PrHRpQ=b9ut0g`)<C*&OW4&77df#Wq(zEOEbA$b(
R#gj$4;ki}VSX<28)w`{qsW8n)klzj9s*9;RN8^vFmQExjb41Q*@)T|d%hUGiZq0;+U}d0-$>bhH(W~9OkI)
v@wgjZ=qFhMe#L)3H&EAG*xyAzsSs!Msa)NrL_RYw>d0%Mg^Q_!8><7)Kkc{ps9!6$ng4z6Pmu?|Fz%^(uT`
g`yWkPy%{s7`Yse>kg#K2ElUm=^=XHsPdKMz*dC&exkRMA*4n)p5-*59L2zf``+Rn+mD}V94>%d1Az#qAW{3
pif=LGmWL3~Os<Gh3(oZ@*_AeUX#Ew2terG}o<GGM<A#OyWSPOG8cwG7C|<!<zEaD{n?`!aT%rr$z)9-7K&>
Q&+%T;w|W5&T5|W47J0$Nkjv%08`zu~j2r9zkT?QA59LIl}dkBdvVSDtU0Y<=^OM+WSHCCgj1CD4BXBLO#3&
4?5Y0ec$BOKKot{?wCHVkcS^HqoFIrXXXz2<d591=<}=Odr36Ev%8Ua9eKWB^IX2!BCkQbe7D^XNpWCLzO?Z
1zq=md74kv8M&3zrZSU{%KEDf5T)l{$?t5!L>o0!<k7NPgi?Hu1{NKMPFB9a~l1rYyCeO(Wc^W*O7?1Ih{hx
KdHljRv#`A>h8Xr@K%s%;Auz44(#Q4MSK)TS*&qNfL4*coFn^_<Ck0x)1Y`i92+z<43S8twY{7K%UD!=g_<H
66IhdQ;@ciiTEZG6}{uW>$ExA;Bf;XmoSxKGHFHvhBUJA-?P_|`JGUnIpk`YY_4#n!p4Jea@CZJYkcrh1UqC
Gy4iQu@-~`{m&s5xqbBpsMrm=`nHeXW}+XyEX8w$?waZ{NV>X{U3Orb-=^BkC9gs&)B|B_|{f#8(homw_0IS
fQKG=i2Fp@jokz2=M`mG?|jORQ_Fp^a4M#NNBAGse%*-Qq>v`w|CN2L1O
""", """
c-rG&U|^5}Vm4+5Fo=Ni0~8?q1}HyS1;U?z&S!$~ZP+3F9Z>!>H3%O7_%sFI
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
    'struct_ops/update_idle': Packed(92, (6, 40, 68, 136, 167, 169, 205, 237, 274, 377, 385, 438, 454, 473, 481, 534, 550), (), ((14, 'scx_bpf_get_idle_cpumask'), (23, 'bpf_iter_num_new'), (25, 'bpf_iter_num_next'), (124, 'bpf_iter_num_next'), (128, 'bpf_iter_num_destroy'), (130, 'scx_bpf_put_idle_cpumask'), (155, 'bpf_iter_num_new'), (157, 'bpf_iter_num_next'), (192, 'bpf_iter_num_new'), (194, 'bpf_iter_num_next'), (231, 'bpf_iter_num_next'), (236, 'bpf_iter_num_destroy'), (243, 'scx_bpf_kick_cpu'), (245, 'scx_bpf_get_idle_cpumask'), (251, 'bpf_iter_num_new'), (259, 'bpf_iter_num_next'), (343, 'scx_bpf_kick_cpu'), (346, 'bpf_iter_num_destroy'), (348, 'scx_bpf_put_idle_cpumask'), (353, 'bpf_iter_num_next'), (357, 'bpf_iter_num_destroy'), (366, 'bpf_iter_num_new'), (368, 'bpf_iter_num_next'), (461, 'scx_bpf_kick_cpu'), (465, 'bpf_iter_num_next'), (469, 'bpf_iter_num_destroy'), (557, 'scx_bpf_kick_cpu')), """
c-rk(O>7%Q6rNc--gOn^kYM9R2;*8b3704?2RQL};203Kdfd9H8j6sjfJGU6p%t{^m<kYz#K9Ed3I)`IrEpl
}9;%X4g*ZiuRORSnFGxMH%*^}7yR*(ZROz7yMv9(i=gph<-hAJC6EV&7XuotjRI-1P=4Wz@g<Q_h(R|fm%$2
g7Vb&<rNQ!BX<kJ3AN|yM$ob2AxcH6VRY5C=pv@1vZ*e;#7O8fgaNxIU^1G(PI;rnHhJqJ>r@5Stxbu;hf5z
lA)+J2EWX&>x~4&p@IXQbWNw4Z<K?=9)IQeBzd(Q{*O<%0q3TSq=P^5G=%0lQ5P_C3-IzC}D=VZXGiQdzhTz
vc!yZ`&OH&py=W1&HrFCw*~)@>ZCEy$<pw*B`3*9pp#;DOZ~viesxxdRdS1)RMBI^FeX1VZDoW{~FCl;)B1z
Ma20N<waEIwddjn`Mtb^xK0eTTt;5H4(ub3{v6`?h~y=?&VjRr9O|2rex24U3H@@Gu~TxW-%9##!j4S3a@~I
$ew%&M_Blhl)lomPY9HpJOL*!d@BUlR<2dIHoP)TH-lYueU|yE`1v#{?96tQ<W9wWF^;^kBtS`<)e!U{)<jK
gsp1(SZ2gM`9iw5h4<JLuI*WzdYQ^ObHZ-ZAXJ|2dDabic~xyLEbMTdah1HLCq#y-`BUrV$Q;QMpH*UBd0>q
7ny@~aE~UBbKJV`_a^x9dZZ-LdOHDXMp>4g|+(-pW%Qm|%Y$9Jgo3otlTaU7d%bau~dvP~R`_6Yi!+??uV(&
%bznn2*V4O&z28VR;I^BY8Lf1NnQzJZ+=y6{TnKx>R;;zLj$}UYkx-S6%dt%(%W$r~1&ZMR?}mwZ(t%tpdIp
egET#7n+CQYr*I(U_B2WE=2cb@etn^FGl)`SB2vT*V$p-Ht2hU?T6#^%G{1$Jbg>c-#0$A@VJe-WcJ<l-nZu
MV}k>EoOZ9G3!Hyq<Gke(zRf+S)rBH^&+2FGO{(w1zBbaI29MOAM2GTrSUrjJFB9h%`i-bk|MXFRgDWJrfQK
ylPRpUbw{|Ykk5K=M{C;>)pD_KaU$yK0a&@$?WK;CL6#c0b{TEX7dAwiY`!(dv#G&%7ap%}PiuWbm|G=ZlQp
AfmzlZ&<mgslYM88YKZ|*0p-=+1r^B&=H*yrYPpSb@dKhpcz!0Kl`;OQGSp3e>T%-HoN>|Wr1hySSa@t!++U
!r%axCy>qP4Lw-{pjo?_2H%qJ1*(P->-2Vjnrq{yLg%E^N?S7=LF!@*7foH5~t{0xLi-;+r99=;5do@)c0Y6
7fR21AJ!8%27U|G$Bbh)f#W$lZ>RBp$2Q(aYdHV3OaFHT=xePE*;&n?k0$TAZofD8>ht_{mG|1fdRI0w1O!*
^S2rSR_Peu~`Ci{c7x~_kalE7Pwi&XRpXHo={$6Rvde^jb^sWikBfdH@oKLW?!}0vfj^*D3yGr{vo)G+BIV%
3||BwGC0{_3H;Q!~xjQ=0Cy?+73h^P+
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
c-muNU|`4uVhv^nFi3#%MWOr^P`<4(gbx5kV*>X
"""),
}
