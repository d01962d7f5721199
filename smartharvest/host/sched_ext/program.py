# SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
# fmt: off
# ruff: noqa
"""The scheduler of the ``strict`` mechanism.

Made by csrc/bpf/build.py from sources with sha256
df88f68e5a8d6b4a2e7889e42a7810f23f1b9c19ec3f68ab3d447a9250103b2e.
"""
from smartharvest.host.sched_ext.packed import Packed

MEMORY = 69056
"""Bytes that are mapped: ``struct sh_strict_state``."""
TYPES = """
c-pNRO>7)j`PntC(>5vy3Z<oC+)`&|vtF;0G!#2_nkL)EavCT8QBs06jCbC82ajhqGqbTxL+Jq_A@u+fLL87
<DpdlNLk|ccE(C!@FNhlw7b;FYP$UkB8xr65e&)S5GrO@>CfS+i_rCYN@B7~O`)1z!#|U|h@T>k1|9$8Xd5z
u&w-MeR8H1aZ|4Hs+0Pq_VFrP5tavb-owlRl%Qo)SF?en}negtk$30&C!yoL+NBTWJKFx<XUu_m;~u>GQ<oh
%9Z5Z871JpjMg;dc{$55n)RT4Ri8>miBV3R(c~QRL%Q_&ox@Z}Yx~KZSCH2EdM8g7$OJ{*0J&afI`Zv|U1Af
p1y#e;s}<v>z3;b)o$^LEH8Sm(TO?jN$jV5G3M<|6@q>>(F?J7}w}$Rr|p^aQhBlYYh4N0jHB)Z$taBf~=o_
+s{Y1JaOzd8veVYjlBF(;K8|n67APDJW~R{T=xnzz90s#jVd`v_$LL-ePSQm&^{&xyU>0@z=zQOqPcgYpN3m
Js$|j^_;Uc*H`$&LPo($V2Y7R|LJx|2{f7tmUOzox{Hbw1{)|F&RIYWbVr{%^jYKrRfAN8l5e_qUFPe@X;cK
3N_B%(EtlxunL(D-PY6{u?lEaVTGVeosx}Y~RaQpKSCC9tk-oLNS{TsAT7UrIU+ut>qe;!eM5^jh29vmykVb
D|OeN>a@qeI||GJ5+FE~Dp^Gde2wdrsjtp4dDKw}r<QKTD6B{1n$bSHOul2I<wrJ?JN8T*kO_4>>sl<UCAHZ
#}`~v^Ze=gD3g;(#KrqdpwvtygXq1<^&(VHemesPx0~90pmY=nvbs!7<a$K$FC2XFUDUPF#c~besjS1(j*_>
sL<Q-f*%+rr{4)Y9<={Dsp8v*(DucgkDyJ3ZT|<_Tfztb7uw$tK62zZ!*f3_^vH2O?@9g~@4)Su<3^m5p>wp
W#gG7Qwd00w%He`SoDT$3V+9`XfU^UaFn0Io2zdkAkr@0Tv|~Z*kD+}F=>TW(rY+(N_}zD)ogi<}epj{u*?Y
1LPU_dt&ae&E^IK@&#`X^QZCk~%zu0OIKCo5%`q1Wn4rTX|XupMfE#`h-IB4k$aSvo19Cyq;=$UcQkO}sq(V
%Zf_+yTu$8i)rO-IGkGop?1IV<5o`WGbp2)CJWkqdkz__{k{(l9P)z~^O{3;Eetv*4%S)MWBCjRr@fL9T@~+
#OLg=xe27EyT0s@O?)-eU0B&HGaRVt@Vbs){iuPf1>gGQ%CXp3rF$$D~IcY=Exa6eW`?_mHFO*+aGX;$FqhY
%82WpUs*Z-io3e_)t0;V%GH+Zl0FQaIqhboAEm)oM13oaqb=5b>ZIO{2(tYiB|F}pOQS3aXiB!}KDq6MeM)+
v*M<%Q3rE$?_DCGLyWTeK_ej=rH?z)k+U`<c_BEzcK-bP1o4rn>jig#HTz%2Ky0ZL|ozJXW0Mu`1R_3MKu4v
cr5660ySmN@cee2G=RkLr$p_c_AwIqX9&6!NQUPArGrkAz5H-n8iHZAB_cGpW?)@y_EXbX_6n^4bpgQydeUf
`2n90u)u5+!cC*H2w94C7tu6ZS_hOGrvd+TJ6aJ%(s2iGf7`5S<{pAloNtf5)YJwCyH+=-8p8-AUc#mIT_%B
w#1>wo<Z7gRO2xQdpf5KfUGNW|Nw;CvzSq1b6KiHYW}nTV6)3J9n78rWQEi*8IG+df`&*qT9N$=D_r4XJ;4!
n3QHx!pSYGcB@bO)S4HwQ`+G4O)Vt1<_OT)bwLI|d*p3~NJo>j`$>XakR*fu$P3&BPyl++oShMiA+-$u)B?a
a3{=($OAIAh!$4r2wN4_*Ct)pE5AKR^sjiln<uq$s*8uUW%?6kS5W^*Rb!}zw!kYW?`5W$qtLv+X{8SFbkrX
x><u~Kx+J-Q&p5z4tFb6nJYlO97Ppn!#+p_g;2etgd@=D8HX`R2wR;*i6m7KYJ888dCm&BXYWgKnOB%+}`*`
*1rDsY23gM|d&q;bbC4mfp7QgFh0&Z=2~hFl4dSxG0Mxa|isAZs#5Q+>TQ98Z^qK0{*_NmlgXULaA@%5yZE6
o65ryK&+JiYa_L)|55FC-d>CdC^!{ux0?Nx%X`0TEBc*p8yDX17S}UE`W7FhIWqf<Up`Woch$$j>9H5JLbQf
o`h!oB(iL&+>V%A!$~vdKbV9#pFN}PEMA?sAEDlzIgQ&6>!X0vj7yY*a?wkBx21d?*26(uH{FlgZim9QyI$n
Gabi!RxYL_9=qs=R_5*gby5v~XuokEyqv-5eON^g6<v7X$1y$8Xh(N*-rCpat1~fvehUx+&O6@^QxoIxHAz2
FjsfArH$WpfxCol)w;6wD`ZXEh9I^Ph+(ZsgVrMg=boK9-vHWwT!n-HY~MB@2A7&qXf32-l%g;?M+)Iob2d9
ZD{mrMk8aK<;>rNs+N5bRp5m#?nDJQ;b5b5#&^Bf47^NLhb%^u(dz5j3SC<$@-B$c=mHwAO1NR{evq)-CCkL
odzhnvcPdChd7MjzcR*-M|k~|2kfnQbYfx9MqDo-wB1c<d_-4x-}`#fDqjm04=GWN@&D%Tjx`D8BB`KVH}ou
YR-OHr(VR*LOuY&B261@(cX@x76N~c==nmL5<cvv{mpbgg>@mGi$2Df2E82-3<?mTqu2)~d{W`r1GJq0Y`4Q
?Cp5GWKWp1jyc-FF*ztO97{}W{1PE})p5#d$3fkAKISjUGxNozWj*~lShL6o)A$gm+><=5}g2leHvb=tk*{t
d6CxlFZ+Q~_4LYNukm~K1X>47~mV@r3vo;{g^)~zNeoA2nEAYKB1<w`(=uxIw?TooYCvH<d8>&5fym)G3ut;
Lrvt#Md%B)KmJUpj9!=iqTxb7G9CRThG*;KT_@4)P`C+3)$Vk7aqnjr~<;>UU+ibz^aL&0q+zaB)^I=@=XdU
KwNQO*U_%!Bn8BSU==u<0UtgPdz6UM&D3twpt`rO34yhwKdY!vhLj1mZAaU%Bt~)3J5y021Of~mdzM@(T+it
IsrriNVbDCOKsiA8KyeA9!H5a*N#Cp4d4w9#MToTs&E8i_Bq*@tyHq2BJu{<EMG&nT;v2C-X;abq&8FPx}49
b;%Yy|W$a*fdq(89x%j1JNRIXzd2M0lATlX{h=M5N46+6X6tQW>Ih-9tDTTzHArW3$Xf`9HZV6Jk$5gyb*sK
RO4ufLr$~E`;`K8wSRWt%?x@LJ8<sp!#kUhsKjhI31c4G@8Tx!*($sj5Uxvn%}OdaNP(t8+YF?z5#%>^QJaq
usW>85Zl6cNpW(G|lzi;sDXU%Ys^1$Zh~Bz}<gFs;_3Qr>5TCD~ioIjIg(7#?*mR8=B^n?*gsq{vpeCZKe%d
V~=VlP6jn6ow%bq$UcR%4~mFrifXq$`Ro{qiIBjsj5~hu<A%G%-3Vt155N^E3t|fiJnGmAsIB{-p9-{2Ug8?
X~Y?Vtf8gaLY^Gaq)}g))uKpEN(D3~u9c9*dfKrTbYXKLf-)$dQcjBNrQBKU1~=g9YERT>n?YvkOgV*)d{)f
Wt=ABk&ruY%L+T}i)PZjYkR%v6r?wA!)5cbCn??|R!SNPGdi^k@dP2i6IOubN%<^M!E>R3d7VpqmNH`(Ex1<
T;5QVZD$8i?(N$>z?loO>>Ewr<49ZWq{ts7u4DA!bTraP}OQG@0Vv$z9iGuM|_F0LAhOdfWyc0=TdP{}{1Ly
$4N_!qJ$75fvcj;}bMV3e}RgBDh-XxS`BW4C}+cMd#!>0EuwqEL76gCEW5Fl%Md8x3(dA(T#5FJL0z91}O{?
_iB(PeNmpCMiovi)oP9uiY++#I`x8$iFl!ds&XgF{muaB9QeuQ>2<eSDjlA@OQ&AsnXV{<QxwclK@m7{C9wE
+c6+FL5Nj(D(3Xc!RYz9$O{}3j~>#&bum}w+X18=M(~w+jE-=wyg@!tmBjl>y4sOMkW^A!Eq)_;GG)dQ8QEv
C;xIEey(%dSLCfXkdKK7oG3~^+shh=+%(uOe^OY-6b-d$=kP+^3T`EL8k^4+7pq9El4~seQlju!6ejJ*0J#d
<VpZiSR8J1i=6t{Lk=`{4^L|%%iK!b3ag_-j_@iYQ!1eszX^9C<wn|b%SLLOes)ywO7thD0bprEpTsIF?9Ax
B7)rcG4xsX42`8(&!>>bW51hG>uY<hj3|f3JbG-D~Tu_0~m)=te~1o(E<~ik^>@oEWJzUQ%U|WFQ}`YH5;Uh
Rw5F$V!+@ZGH?iT->>>Pyp};IH$q#<kLzO`QQoaBvp83Hn*AqB43hd$-nF}a(~fz@0VePP?3k4%6B7r)I@Xc
(WLA3c-oV7gVe&RPnhu`UC4%JDuz`S&Y=z&nKXQbLSL=MZL;JP=5=Du6^(dSmbAI2V}_^Dra{y;UW^sr<jt|
yYR!roy;Pjns|s(;`IoEt0i}AH#l2oZfAT)_;8yewJJe)Fm8vH`rb1QavxyfC6CwC2CF?on0%od+D4od2^B3
6HQdjkX%R!uQ(X9jZjwG=deuUOF4}cxefOq2PhJl;aN_kevrR0hsj$bNN2J&XygNjhdnbk6*ToLZ&g!y7k?S
!LD5uyBrv2paydI~4+*mrL)CxUvxIUN3Ma^rxKEEyy)o4*7v`0g@SviEQ=6e`RIO3E}V9BAV~-~am%HTTg~P
L>q}!xcQ|cg8VK7EJqM?3CS}^muG|j@;@8G;Px;(*><M4N2$ShZi-nRiNLwNB&yD?f`q%(_LxL#w_uA08a&V
HuY|UQEi}b9LV3R`O1N_ScEUxU?<84YlXu-a=0T+e6touVGtQqYrO{1s^6d)31vf_P9-MMT}H(R%DDLZGrAW
TDx-IsxYR(dHf>=g{8{=2f%$s#w5=_I#CF79NmajPlbO&V-m*=wZgtvLJJ`D*)2eG#C6ykqBtbrqQuUgOy`M
JZ*+{2Zk0DCzDOb*teVQcN!FwAr2UrSRtsT^@sTnPPs3Cm$UEE0iH-KV;f1<S=L_T4Ew(&(MOi$y8?4(-?j)
AZ@3^x|n+$+mhT10*V$3IsCft6mO8#-YuY1Qza*VkOyH1Zp`PDwcs7E}X<Wb9TGkm3Ooa*hgLca*QH*<1?p`
-{qtiO@6J8ZCTE{y|Y`#HkmlhadaEX=aW9_N~O*aWVWv_(5DAa>P4q9-kl;@CkQ<gy#nAvm%22h=`Lq!u6JY
U#H=b7-WPa;?oR*FEmIGVi3!Pb9h{d5lEO?=!n?z`EjmKczQ+9-Ep)j;pf9d9w3uK2qh{TAVyV0So%uTSvld
~802TY{G&;NDI-x83dxHRB0n$Wawd(<G$oDgbbkjPV5KRMB8Js=fC}<IG2s$s
"""
CODE_1 = """
c-n<k&ubGw6rS0%*)1eZthG)RG%A$b%tn#kOcg;-dT7L3TrY|jZ54FM#R}CwKs<U-#Nt%~Ef`2nlAApid+9;
MgGi3Kt@D1Y*&TPx!1DIZyzhJ8ynQnp9u_#16sZx;56RAr&|be3&kLFMJ;N^>zB2rZ;a5}s5r^^yhstOd<Zt
qQkNsc51)N_Y{87RMYZM=>E3}0<n*ZSZ5Dv^=Ab%<UT|^T23h3XI5;qh+qV;X<08@$U(tAtR)$^k$iaMGMlx
*r}O+W4X!wBO7io2`hK%er`^(-mg@5d3vZ;W||MImC|-Yc4q`Fk%oF0b<!$Lns6<2kRXE6Fcr(>T~)``FKD6
3#Pl3ULP$ab*KnLEPR%oHB4##O+SRRSaAWaf3{pJ0rxhfv?U&d_NU$eg~B^&WF$Eqh7=Q-O@PS9#QKQuRn*c
Dn#r9FZQ=QL4C#j^^$p8{#Xz2#OqJ=IwVk2LNxV&Ik2tEw0@FtpzoX>@D8>&&%EcEN0T^-Jf#(p(gAs<5`7P
+wxkEf>d{KfOFiHn?AZh!>RPCi-(4a*Ev|6AMqIDu?0Vf{y@`4?V6XC9Br@wy_fS}GWb?hF{ti$7%liy@ztX
zzG0#;C&w-Vvk33&2`pV3E!@|2~<%OL!<!9EXnCF&-XV=QpK%P$)eHG@tZQ&i*>xaBstgp&E_bfbpd;K(`qw
h6n%%*%paqsy)UHSigsvP5f<@>(9-p6y-W&EnfUxa(zrE|3HkbS`Maol4)ndf}DjC#fAV*kuT34OVcKaRS)!
8i~6SN`gqG4PA5@7kak-z(Fw-woPWiT}Ut#U0Wg82U}!L0b1J=bfy-hWhuP?xc8tA4<AertjBb+-tUf0Q(6B
-T
"""
CODE_12 = """
c-q^-00C2>Gyo6y0ZI
"""
PROGRAMS = {
    'tp_btf/sched_wakeup': Packed(18, (1, 43, 101, 149, 169, 189, 213, 215, 227, 235, 251), (), ((258, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!63#Mc=az+eZIFUADn9{^%$AdZLfPXMtj5H~~l7ohx;Q2q<3{_{}&4=7)a8N%mags6v^C%_1i&w|P
W0FZnN?E
"""),
    'tp_btf/sched_wakeup_new': Packed(36, (1, 43, 101, 149, 169, 189, 213, 215, 227, 235, 251), (), ((258, 'scx_bpf_kick_cpu'),), CODE_1, """
c-mXRz`!63#Mc=az+eZIFUADn9{^%$AdZLfPXMtj5H~~l7ohx;Q2q<3{_{}&4=7)a8N%mags6v^C%_1i&w|P
W0FZnN?E
"""),
    'struct_ops/select_cpu': Packed(38, (), (), ((8, 'scx_bpf_select_cpu_dfl'),), """
c-pHJ7GMB@N>K&~EyMw)w=hEZ#Zv$OgXsNBAbfTf28RDYus;yOZxw*>r$V?401UYho&
""", ""),
    'struct_ops/enqueue': Packed(44, (16, 21, 54, 68, 80), ((9, 'places'), (46, 'places'), (61, 'places')), ((93, 'scx_bpf_dsq_insert_vtime'), (98, 'scx_bpf_pick_idle_cpu'), (102, 'scx_bpf_kick_cpu')), """
c-oax!AiqG5S@)lQ$aAIsliJri1jG72Tv+uFP>99FZLHaEIs=P{y_T!Jp_6Q#EX7|;1BdBg&cZ|yE`vxLM|?
Z$Lzj&GxH{@L-we{Hlw^|+@nUE9&HMP*^Fb~A=(s05ecfCXZ@M0kodu)p~WS5YR)>5Q_VAa3t{-%HokWQs}O
BfdFp({dM?q#^mTK}{SA1I^ng%zhxx}GkKGpMLFaQowAProWxs3Nmx($5>nFZKe`f{-^T#4D%>CnC-snp<N3
8qL8+=-#uJOxQA!n=;QefXtoEBYb?4xcyf42u6_&Dt?#DDgaI6PNKEFhs1<G!A!_8C*ujRo_{IXW&cN=^7bl
DBQ_k%bcMt1mE*SDPoq9HS4LpyF4H-687B3yT?e-4WxP$NCxeo=M;n=GAs;8;S=Xd-Hwh1r`5F-aGLesrdC*
{CQ8%?+fr7UA<)f
""", """
c-j+SU|<ji;w(-EFpvOZT_8Ts1mP<Hu^|x0L-`s&Y>dSBV1lS;<Yiz02}LlWnwJ2TFXV;rH$dfC_#k`+W~h2
*2p0efyawq
"""),
    'struct_ops/dispatch': Packed(57, (4, 19, 29, 66, 90, 104, 117, 167, 204, 216, 233, 235, 266, 272, 281, 297, 299, 313, 315, 323, 331, 356, 380, 390, 400, 421, 423, 431, 439), (), ((257, 'bpf_iter_num_new'), (259, 'bpf_iter_num_next'), (279, 'scx_bpf_dsq_nr_queued'), (288, 'bpf_iter_num_next'), (292, 'bpf_iter_num_destroy'), (308, 'scx_bpf_dsq_move_to_local'), (346, 'bpf_iter_num_destroy'), (348, 'scx_bpf_dsq_move_to_local'), (360, 'scx_bpf_task_set_slice'), (368, 'bpf_iter_num_new'), (370, 'bpf_iter_num_next'), (398, 'scx_bpf_dsq_nr_queued'), (408, 'bpf_iter_num_next'), (412, 'bpf_iter_num_destroy'), (416, 'scx_bpf_dsq_move_to_local'), (454, 'bpf_iter_num_destroy'), (459, 'bpf_iter_num_new'), (462, 'bpf_iter_num_next'), (467, 'scx_bpf_dsq_move_to_local'), (471, 'bpf_iter_num_destroy'), (475, 'bpf_iter_num_destroy')), """
c-qZYJ!~9B6rQ==+ue(7oiEARCr4n6l{2Iv0b7dF7=fUmN`&o`5YlO5B8w`V5^zRa1PhteL_jEg7eY+u!jfH
_v~B>GDI-}zDN>}2L_xY`X5Kfux9h!i5DhEY@7~P&oA=)LX2eO4sV_LU6)7rejQGiI%{MqpeSU3B({cWnrlL
o3;WX{Hr2K-UyB1?g_4+AV@1G@lv&@*I_$$OON+DPK+tYSdC2uLerL^DbNupx<ypAZiw6Epc7iis;@@gkIx2
e~IPYyJ#^Cgyd4p;Kqqtf256o0G2SR~iNyR^SrqPW6w_;14h)drojMDj+iiu3Q-kei@9)!kP$-IcOxCA<N9$
V=Ew;&~B8(T=pIOl-)%4)m1A>ICw?^&%?LGxm*s9M1#Fhu<ark#$=Cg`Z$5)vFacN5jqJ{a#|PJYYw3_C^(*
8cWWtQv4hHUT0c#H&gv2dZ-ujROeM%zfbES>iAG<%i~0%NBW1d?pFrtT<2b#&qtCj+dSqE3i?LvbJ)}UYts+
cq5O&!)Z=Xy*LPt+?>gdMv#38?^54Zgf6x~*U+BQX)5N#u5Wj83{i-C)c~xAORUUzxT`%2F4VLL&M*5;l`7?
Hc$>*9cGdq@3rfkW+t9Xy>*S$cmiyq0pvVlC7kbmGMsn@5JALQ>&DZTH)zu8|ak)MXl?~?q~nxgHiv_AzsBd
_G%k)QglsF7QfMwF|zkNjrz*3kE+&I;#M`Dt1CwFlO@{M2tn-x|<Yb?kpg{0MN~{~Ytl%!ThT7cj4e&ZpV^Q
NsNh&97W~O#OX>rRKnK_+R<x8O^a1Pa;+{4}j;D$w&WcF8KE;F0o1W{h!HSc24*`vO9vjHzjUW5*M8eK2V>V
6`JpAp5)H)yJ>v1k%zi9R)~u-8=-u?Y#qAk`y{zPo{#3uqa{vwG5CAn{S>+22~R&#e!93XIOe~J!%4?+WR9X
<!My|Rzke|^SA7C}6}Sr~XuigC6!9KT6OQ9~Hoi}N3S2LHPbp6i(FZR2z#+Y`gSmpdsq?AzjWOUC`-ZQxkEw
4lk9?e~<x>4aLHw+&_xYTAwu*X*+BP4Y`%TBu`orb-^v)FSscUlX=f(HC%pNbY(;z$juk!I`>@2aTQPF<Wnb
-05S7GNC&h6!&JKGP{ZxPR_XLv{8d^0$o#c6&|(|-1x<7^K1CHl`o|5^DsIFgSGv45IR78O*Sexmu7P4%3$a
h`HU{{zf@;Nftd;#c>l`W1A@j>?<z(6BQ4-@yOeW38v&ho9;DkOB?g$NuZcYl-$3aGwUi>0#60@lIhqckvE2
yy$M>J@~bjUuL&4CurTTy%E1hxqjaUxp@@vd?7t!zs$a*c(xFam%-ioF}PdL;_h;cJ3U`-CHDut&*|R&?|7_
J-0*+9lf2`(o{Kf$)qN?vn)igc->>n?5ZpS&xP?7)&g1d>=P~$wGmYOP_&WQ)#8(zqvo7?r_`>}z=7BF8_$m
Wmi$n1BUIt$?<hRVu6y`hcosrwuL-gycLiY(z?(^3q{R1?q%io1{Ei<Pu&II=yb7NieJILD)p#K1gHbeR
""", """
c-qTgWMGhGU|?uwVgQ2$Q2t3Mzkn50egiA2JO?)egD{ZZB?aLF01v7LLj
"""),
    'struct_ops/running': Packed(74, (18, 23, 56, 72, 89, 91, 97), ((9, 'places'), (48, 'places'), (63, 'places')), (), """
c-oayO-lk%6uoa|QiDWOha`xIB3q`pXjM_W)|zXnuw4`q46`fx3H^X_)6#|DCYXLgOTkS`cO|%RH@*ALRT#5
H4~E12eCM8b$6FzD>UTiz<_Ne<bJ1TNhm64s?6^fV4#P07C~_Y4$FATCb}c~^YKKcmT%fYSuGD!g^vzq*KHR
^pIDgUDXHMF5$lK98Z*PEp4$%ekJl+A{Qo`U{j^y4Y<Zr>QIx*BqpMHsGsIlXKze_{Ii*3|@P3=SBx67!IUs
a=!{pY8nxjF?cu{HnE9NoHdFYCur)SuDErL>7}s~8<<EGXPNt5+&R5ncUETm9#~Itp{SgvNErtB60ihuzTO_
?&l0Z2|+~QL|9zXFrlg_wuK~wVXB8p_gP`A+T2*n7E(qB`0zAxXOyol@%Td;W0DMFJ2F_C(S(SPuiw`LEi7L
IlS9_VENtLur7OZ>DZ)Y44EHCCV9TpbuH-GwSoQOEB5eQ^t7SNbqRJ;uOV+@C5Cw#8kth6E_=E0P5ftegx{0
k55Jpfbp
""", """
c-rG&U|<ji;`2-lU?2eHXK_OK5<skrB(DI(hCmz-<!b=3F%tg+6GVTmEL1%+gwMhU;d`L*0l}pPP5
"""),
    'struct_ops/stopping': Packed(76, (6, 8, 35, 37, 49), (), ((64, 'scx_bpf_task_set_dsq_vtime'), (68, 'scx_bpf_task_set_slice')), """
c-pHJV*rE13<$ly6+(xzGBEsS1oDF+{B&jp26iAV!Nh<9Bsfv|{FV^9GFbvbPuRc<qPMd!Fr<L^;v5k1i5I}
)iJ3ZJz8EJX#2qORemIb852QmlAoO;iJs=hNoe=Z)L_p{gpgbGMeL$KSWPcOXevJ=cI(`O(FUr9TrrCk+2gx
i4n)e?FZck!h2mtcsA<_)$KuZij{$fD$CkL88p$aOSZh#%Woe|<cQ6`8#_A5fe(+FxV6GVQ$CWLP<2@O|PXt
*+>nI8x>U-Skzoa7@R{M$2jK<s0M@T&tM^7{>;@)9S&^0y5(K<sgXnv-Y&F;@ucu0#mkDgX%wQFdk&@$F2g@
>`(pnhK=>s3<^r
""", """
c-rG&U|<ji;`2-lU=RW2=gLC(4N(4GIS79O8vg|&gwMhU;R68ik_Fr
"""),
    'struct_ops/enable': Packed(80, (16,), ((8, 'places'),), ((21, 'scx_bpf_task_set_dsq_vtime'),), """
c-pHJV*rE7L<a~h$bglumiqA@MDJe&;j=R_F#P!c|Gxwy0}5ybVvx{wAYl)rMH!gD;)zgo;ZSjPAZ-AoC74k
4^9w=kRXPCHu|E-Nt^flA(7OLypz5YVX#jde7Qz
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/runnable': Packed(82, (15, 20, 53, 67, 73), ((8, 'places'), (45, 'places'), (60, 'places')), (), """
c-oawyGjE=6uoydNfZQ=B@2s93ZJFK*s2INwwm-I`Vqs{eu5vM`GFJ*u@LeLmO_3YodmW>H_m++nPr;{EQd3
5=G?PqY#Vsl_KhM`Vs@~0g!6ad%?M!aoJ$dc_2NI;N<a?k&}W>f&Q8Q9jlz56H$~F#G9Q{2JEXNxXD^oGX8@
ik*X^0)>+LXpc0lLuiT+6Vz%=BZ`Yd_?E04MP%e&%S#O40ahF@#Gb3zpT01HR^<NKnrm-$4w&tFvZG}F1%7g
aHO6Q2ZHe13urxbk?4GPm5<ehfjcSv<vU-X}--uLQ(+q`F7lFVC~biigWUx5;Np`8xmkP<tm_m@nl1K;EPKp
uTq>oS=It{J9>1kMEk^mrk<2zFYjwnCqNZ#a~~wQP%
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/quiescent': Packed(84, (16, 18), ((8, 'places'),), (), """
c-pHJWB`LoK?f+!fR(P6`tct`?_UJrvokR;{P_R>zXT%#3TOplkkEFZygiT>Wncn}CqgKOaHzOCkTw9)==vp
?QThDJP<I$z0IL*bVu9EXR0k3P*#nYjhnjyIsvbjJ@dlXQ0yTFklm-C2;}=-
""", """
c-rG&U|<ji;w(-EFc1J@T_8Ts1mQ~nu^|x0L-`6oY>dPQ0AvvY`v
"""),
    'struct_ops/update_idle': Packed(86, (6,), (), ((16, 'scx_bpf_kick_cpu'),), """
c-pHJ;$Q#)Q6_#cT`35r81@T6=yE0o24)}~4x}xBv;;E)3gB0U(3M68j9`7j5PmpNojs7QH-hqk`WeCYFoF5
oq5M_>28RDYumx(~R45Gq5#<eT
""", ""),
    'struct_ops/cpu_online': Packed(88, (), (), (), CODE_12, ""),
    'struct_ops/cpu_offline': Packed(90, (), (), (), CODE_12, ""),
    'struct_ops/cgroup_exit': Packed(92, (23,), ((15, 'places'), (30, 'places')), (), """
c-q^}!~h1B!VsEY8A9)02%*^-85lnN|NnmrP#p)5-wMQqK)jt1s&Da!|6qMk{ri_e^|3K9`~d3Pp9tZj>z9D
)hk^Y`5E>*8k`iU$1@jZ3>eLw780>(wI*@Mw($9pdpI-<<!`xLZv;oZ8zX<9cCWw2`?FHG#400coKNU&?0JA
tDA^
""", """
c-muNU|=u=;&>(oFt7k(V<bKR7kmL<
"""),
    'struct_ops.s/init': Packed(94, (), (), ((3, 'scx_bpf_create_dsq'),), """
c-q^}$N&cW#US(+CI*K8K+q}xp~D!MA@Ye3d3K<Bkd{!kpa1QF^i+s20|0rn4|)
""", ""),
    'struct_ops/exit': Packed(98, (8, 29), (), (), """
c-q^}!~h1BVi0<NGKA(=hVmCeXm&;hh9Cd`|K9>s&jRGP0&yV_ORzJbfW(DA{)6abaTzdwJ5V17vbn;z&E-H
cw-RbjwYUP@908DiG5q>r_Q1_q3^7N75!Ia_eHuU-q^|+0z8J&@iZg=UF9BA!1*(23lm-Ah$17_
""", """
c-muNU|>iF;&>(oFi3#%8F?Z66;S?lMhG7OPE-SV
"""),
}
