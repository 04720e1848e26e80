(** Continuous piecewise linear functions of one variable and their zeros: in an arbitrary real
    field this stands in for the intermediate value theorem, and it is all that the schedule needs. *)
From mathcomp Require Import all_ssreflect all_algebra.
From resispec Require Import arithmetic.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Piecewise.
Variable R : realFieldType.
Implicit Types (f g : R -> R) (a b c d t : R).

Definition affine f a b := exists c d, forall t, a <= t <= b -> f t = c + d * t.

(** f is affine on each of finitely many intervals that make up [a, b]. *)
Inductive piecewise f a b : Prop :=
| Piece of affine f a b
| Pieces m of a <= m & m <= b & piecewise f a m & piecewise f m b.

Lemma piecewise_part f a b a1 b1 :
  piecewise f a b -> a <= a1 -> a1 <= b1 -> b1 <= b -> piecewise f a1 b1.
Proof.
move=> pf; elim: {a b} pf a1 b1 => [a b [c [d cd]] | a b m am mb _ IH1 _ IH2] a1 b1 aa ab bb.
  apply: Piece; exists c, d => t /andP[at1 tb]; apply: cd.
  by rewrite (le_trans aa at1) (le_trans tb bb).
have [ma|/ltW am1] := leP m a1; first exact: IH2.
have [bm|/ltW mb1] := leP b1 m; first exact: IH1.
by apply: (Pieces am1 mb1); [exact: IH1 | exact: IH2].
Qed.

Section Combine.
Variable op : R -> R -> R.
Hypothesis op_affine : forall f g a b, a <= b -> affine f a b -> affine g a b ->
  piecewise (fun t => op (f t) (g t)) a b.

Lemma piecewise_op f g a b : a <= b -> piecewise f a b -> piecewise g a b ->
  piecewise (fun t => op (f t) (g t)) a b.
Proof.
move=> ab pf; elim: {a b} pf ab => [a b fab | a b m am mb _ IH1 _ IH2] ab pg; last first.
  apply: (Pieces am mb); [apply: IH1 => // | apply: IH2 => //];
    exact: (piecewise_part pg _ _ _).
elim: {a b} pg ab fab => [a b gab | a b m am mb _ IH1 _ IH2] ab [c [d cd]].
  by apply: op_affine => //; exists c, d.
apply: (Pieces am mb); [apply: IH1 => // | apply: IH2 => //]; exists c, d => t /andP[t1 t2]; apply: cd.
- by rewrite t1 (le_trans t2 mb).
- by rewrite (le_trans am t1) t2.
Qed.
End Combine.

Lemma piecewise_affine c d a b : piecewise (fun t => c + d * t) a b.
Proof. by apply: Piece; exists c, d. Qed.

Lemma piecewise_congr f g a b :
  (forall t, a <= t <= b -> f t = g t) -> piecewise f a b -> piecewise g a b.
Proof.
move=> fg pf; elim: {a b} pf fg => [a b [c [d cd]] | a b m am mb _ IH1 _ IH2] fg.
  by apply: Piece; exists c, d => t h; rewrite -fg // cd.
apply: (Pieces am mb); [apply: IH1 | apply: IH2] => t /andP[h1 h2]; apply: fg.
- by rewrite h1 (le_trans h2 mb).
- by rewrite (le_trans am h1) h2.
Qed.

Lemma piecewise_add f g a b : a <= b -> piecewise f a b -> piecewise g a b ->
  piecewise (fun t => f t + g t) a b.
Proof.
apply: piecewise_op => {}f {}g {}a {}b ab [c1 [d1 e1]] [c2 [d2 e2]].
by apply: Piece; exists (c1 + c2), (d1 + d2) => t h; rewrite e1 // e2 //; arith.
Qed.

Lemma piecewise_scale k f a b : a <= b -> piecewise f a b -> piecewise (fun t => k * f t) a b.
Proof.
move=> ab pf; apply: (piecewise_op (op := fun x _ => k * x) _ ab pf pf).
move=> f1 g a1 b1 _ [c [d e]] _.
by apply: Piece; exists (k * c), (k * d) => t h; rewrite e //; arith.
Qed.

Lemma piecewise_sum (I : finType) (f : I -> R -> R) a b :
  a <= b -> (forall i, piecewise (f i) a b) -> piecewise (fun t => \sum_i f i t) a b.
Proof.
move=> ab pf; suff h s : piecewise (fun t => \sum_(i <- s) f i t) a b by exact: h.
elim: s => [|i s IH].
- by apply: piecewise_congr (piecewise_affine 0 0 a b) => t _; rewrite big_nil; arith.
- by apply: piecewise_congr (piecewise_add ab (pf i) IH) => t _; rewrite big_cons.
Qed.

(** An affine function that is at most 0 at both ends is at most 0 in between. *)
Lemma affine_le0 c d a b t :
  a <= t <= b -> c + d * a <= 0 -> c + d * b <= 0 -> c + d * t <= 0.
Proof.
move=> /andP[at1 tb] fa fb; have [d_ge0|/ltW d_le0] := leP 0 d.
- by apply: le_trans fb; have h := le_scale d_ge0 tb; linear h.
- have nd_ge0 : 0 <= - d by rewrite oppr_ge0.
  by apply: le_trans fa; have h := le_scale nd_ge0 at1; linear h.
Qed.

(** An affine function that changes sign has a zero. *)
Lemma affine_zero c d a b :
  a <= b -> c + d * a <= 0 -> 0 <= c + d * b -> exists m, a <= m <= b /\ c + d * m = 0.
Proof.
move=> ab fa fb; have [fa0|fa_neq0] := eqVneq (c + d * a) 0; first by exists a; rewrite lexx ab.
have fa_lt0 : c + d * a < 0 by rewrite lt_neqAle fa_neq0.
have d_gt0 : 0 < d.
  rewrite ltNge; apply/negP => d_le0; have nd : 0 <= - d by rewrite oppr_ge0.
  have h := le_scale nd ab; have : c + d * b < 0; last by rewrite ltNge fb.
  by apply: le_lt_trans fa_lt0; linear h.
have dv : d * d^-1 = 1 by rewrite mulfV // gt_eqF.
have v_ge0 : 0 <= d^-1 by rewrite invr_ge0 ltW.
exists (- c / d); split; last by from (- c) dv.
have ea : d^-1 * (c + d * a) = a - - c / d by from a dv.
have eb : d^-1 * (c + d * b) = b - - c / d by from b dv.
have ha := le_scale v_ge0 fa; have hb := le_scale v_ge0 fb; rewrite ea in ha; rewrite eb in hb.
by apply/andP; split; [linear ha | linear hb].
Qed.

Lemma affine_max c1 d1 c2 d2 a b :
  a <= b -> piecewise (fun t => Num.max (c1 + d1 * t) (c2 + d2 * t)) a b.
Proof.
move=> ab; pose h t := c1 - c2 + (d1 - d2) * t.
have second x y : h x <= 0 -> h y <= 0 ->
    piecewise (fun t => Num.max (c1 + d1 * t) (c2 + d2 * t)) x y.
  move=> hx hy; apply: Piece; exists c2, d2 => t txy; apply: max_eq_r.
  by have g := affine_le0 txy hx hy; linear g.
have first x y : 0 <= h x -> 0 <= h y ->
    piecewise (fun t => Num.max (c1 + d1 * t) (c2 + d2 * t)) x y.
  move=> hx hy; apply: Piece; exists c1, d1 => t txy; apply: max_eq_l.
  have hx' : c2 - c1 + (d2 - d1) * x <= 0 by rewrite /h in hx; linear hx.
  have hy' : c2 - c1 + (d2 - d1) * y <= 0 by rewrite /h in hy; linear hy.
  by have g := affine_le0 txy hx' hy'; linear g.
have [ha|/ltW ha] := leP (h a) 0; have [hb|/ltW hb] := leP (h b) 0.
- exact: second.
- have [m [/andP[am mb] hm]] := affine_zero ab ha hb.
  by apply: (Pieces am mb); [apply: second; rewrite // /h hm | apply: first; rewrite // /h hm].
- have ha' : c2 - c1 + (d2 - d1) * a <= 0 by rewrite /h in ha; linear ha.
  have hb' : 0 <= c2 - c1 + (d2 - d1) * b by rewrite /h in hb; linear hb.
  have [m [/andP[am mb] hm']] := affine_zero ab ha' hb'.
  have hm : h m = 0 by rewrite /h; from (- 1 : R) hm'.
  by apply: (Pieces am mb); [apply: first; rewrite // hm | apply: second; rewrite // hm].
- exact: first.
Qed.

Lemma piecewise_max f g a b : a <= b -> piecewise f a b -> piecewise g a b ->
  piecewise (fun t => Num.max (f t) (g t)) a b.
Proof.
apply: piecewise_op => {}f {}g {}a {}b ab [c1 [d1 e1]] [c2 [d2 e2]].
apply: piecewise_congr (affine_max c1 d1 c2 d2 ab) => t h; by rewrite e1 // e2.
Qed.

Lemma piecewise_min f g a b : a <= b -> piecewise f a b -> piecewise g a b ->
  piecewise (fun t => Num.min (f t) (g t)) a b.
Proof.
move=> ab pf pg; have pm := piecewise_scale (-1) ab (piecewise_max ab pf pg).
apply: piecewise_congr (piecewise_add ab (piecewise_add ab pf pg) pm) => t _.
by case: (leP (f t) (g t)) => _; arith.
Qed.

(** A continuous piecewise linear function that changes sign has a zero. *)
Theorem piecewise_zero f a b :
  a <= b -> piecewise f a b -> 0 <= f a -> f b <= 0 -> exists m, a <= m <= b /\ f m = 0.
Proof.
move=> ab pf; elim: {a b} pf ab => [a b [c [d cd]] | a b m am mb _ IH1 _ IH2] ab fa fb.
  have ea : f a = c + d * a by apply: cd; rewrite lexx ab.
  have eb : f b = c + d * b by apply: cd; rewrite lexx ab.
  have ha : - c + (- d) * a <= 0 by rewrite ea in fa; linear fa.
  have hb : 0 <= - c + (- d) * b by rewrite eb in fb; linear fb.
  have [m [mab hm]] := affine_zero ab ha hb; exists m; split=> //.
  by rewrite cd //; from (- 1 : R) hm.
have [fm|/ltW fm] := leP (f m) 0.
- by have [t [/andP[h1 h2] e]] := IH1 am fa fm; exists t; rewrite h1 (le_trans h2 mb).
- by have [t [/andP[h1 h2] e]] := IH2 mb fm fb; exists t; rewrite (le_trans am h1) h2.
Qed.

End Piecewise.
