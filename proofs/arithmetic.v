(** Polynomial arithmetic for MathComp's fields, so that MathComp's algebra is all that is needed.

    [arith]      closes an equation that holds in every commutative ring;
    [linear h]   closes [c <= d] from [h : a <= b] when [d - c = b - a] is such an equation
                 (likewise for [<]); sums of hypotheses are written [le_plus h1 h2];
    [from k h]   closes [c = d] from [h : a = b] when [c - d = k * (a - b)] is such an equation.

    It is Coq's own normaliser of polynomials with a reader for MathComp's operations: these are
    matched up to conversion, since MathComp writes one operation in several convertible ways. *)
From Coq Require Import ZArith Ring_theory Ring_polynom InitialRing List.
From mathcomp Require Import all_ssreflect all_algebra.
Import GRing.Theory Num.Theory Order.Theory.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Polynomials.
Variable R : realFieldType.

Let sub (a b : R) := a - b.

Lemma ring_laws : ring_theory (0 : R) 1 +%R *%R sub -%R eq.
Proof.
split=> //; rewrite /sub.
- exact: add0r.
- exact: addrC.
- exact: addrA.
- exact: mul1r.
- exact: mulrC.
- exact: mulrA.
- exact: mulrDl.
- exact: addrN.
Qed.

Definition to_R : Z -> R := gen_phiZ 0 1 +%R *%R -%R.

Let ext : ring_eq_ext (+%R : R -> R -> R) *%R -%R eq := Eq_ext _ _ _.

Lemma to_R_morphism :
  ring_morph 0 1 +%R *%R sub -%R eq Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb to_R.
Proof.
case: (gen_phiZ_morph (Eqsth R) ext ring_laws) => h0 h1 hD hB hM hN _.
by split=> // x y /Z.eqb_eq ->.
Qed.

Definition value (vars : list R) (e : PExpr Z) : R :=
  PEeval 0 1 +%R *%R sub -%R to_R id_phi_N (pow_N 1 *%R) vars e.

Lemma polynomial_identity vars e1 e2 :
  Peq Z.eqb (norm_subst Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb (triv_div Z0 (Zpos xH) Z.eqb) 0 nil e1)
            (norm_subst Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb (triv_div Z0 (Zpos xH) Z.eqb) 0 nil e2) ->
  value vars e1 = value vars e2.
Proof.
move=> same; rewrite /value.
exact: (@ring_correct R 0 1 +%R *%R sub -%R eq (Eqsth R) ext
  (Rth_ARth (Eqsth R) ext ring_laws) Z Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb to_R
  to_R_morphism N id_phi_N (pow_N 1 *%R) (pow_N_th 1 *%R (Eqsth R))
  (triv_div Z0 (Zpos xH) Z.eqb) (triv_div_th (Eqsth R) ext (Rth_ARth (Eqsth R) ext ring_laws)
    to_R_morphism) 0 vars nil e1 e2 I same).
Qed.

End Polynomials.

(** The reader: atoms are collected in a list, then the two sides become polynomials in them.
    Two atoms are the same when they are written alike up to their MathComp instances, which alone
    are compared up to conversion (on sums and products conversion could run for ages). *)
Ltac same_atom R x y :=
  first
  [ constr_eq x y
  | match x with
    | ?f ?a => match y with
               | ?g ?b => tryif same_atom R f g then same_atom R a b else same_instance R x y
               end
    end
  | same_instance R x y ]
with same_instance R x y :=
  let T := type of x in
  tryif unify T (Num.RealField.sort R) then fail else unify x y.

Ltac position R x vars :=
  match vars with
  | cons ?y _ => let same := match goal with _ => same_atom R x y end in constr:(xH)
  | cons _ ?rest => let n := position R x rest in eval compute in (Pos.succ n)
  end.

Ltac add_atom R x vars :=
  match vars with
  | _ => let found := position R x vars in vars
  | _ => constr:(cons x vars)
  end.

(** A closed number as S (S ... O); fails on anything else. *)
Ltac read_numeral n :=
  match n with
  | O => constr:(O)
  | nat_of_bool false => constr:(O)
  | nat_of_bool true => constr:(S O)
  | S ?m => let m := read_numeral m in constr:(S m)
  end.

Ltac atoms R e vars :=
  match e with
  | @GRing.add _ ?a ?b => let vars := atoms R a vars in atoms R b vars
  | @GRing.mul _ ?a ?b => let vars := atoms R a vars in atoms R b vars
  | @GRing.opp _ ?a => atoms R a vars
  | @GRing.natmul _ ?a ?n => let check := read_numeral n in atoms R a vars
  | @GRing.exp _ ?a ?n => let check := read_numeral n in atoms R a vars
  | @GRing.zero _ => vars
  | @GRing.one _ => vars
  | _ => add_atom R e vars
  end.

Ltac repeated op unit a n :=
  match n with
  | O => unit
  | S O => a
  | S ?m => let b := repeated op unit a m in constr:(op a b)
  end.

Ltac polynomial R e vars :=
  match e with
  | @GRing.add _ ?a ?b =>
    let a := polynomial R a vars in let b := polynomial R b vars in constr:(@PEadd Z a b)
  | @GRing.mul _ ?a ?b =>
    let a := polynomial R a vars in let b := polynomial R b vars in constr:(@PEmul Z a b)
  | @GRing.opp _ ?a => let a := polynomial R a vars in constr:(@PEopp Z a)
  | @GRing.natmul _ ?a ?n =>
    let a := polynomial R a vars in let n := read_numeral n in
    repeated constr:(@PEadd Z) constr:(@PEO Z) a n
  | @GRing.exp _ ?a ?n =>
    let a := polynomial R a vars in let n := read_numeral n in
    repeated constr:(@PEmul Z) constr:(@PEI Z) a n
  | @GRing.zero _ => constr:(@PEO Z)
  | @GRing.one _ => constr:(@PEI Z)
  | _ => let n := position R e vars in constr:(@PEX Z n)
  end.

Ltac arith :=
  cbv beta;
  lazymatch goal with
  | |- @eq _ ?a ?b =>
    let R := match goal with R : realFieldType |- _ => R end in
    let vars := atoms R a (@nil (Num.RealField.sort R)) in
    let vars := atoms R b vars in
    let e1 := polynomial R a vars in
    let e2 := polynomial R b vars in
    change (value vars e1 = value vars e2);
    apply: polynomial_identity; vm_compute; reflexivity
  end.

Section Small_lemmas.
Variable R : realFieldType.
Implicit Types a b c d k : R.

Lemma le_from a b c d : a <= b -> d - c = b - a -> c <= d.
Proof. by move=> ab dc; rewrite -subr_ge0 dc subr_ge0. Qed.

Lemma lt_from a b c d : a < b -> d - c = b - a -> c < d.
Proof. by move=> ab dc; rewrite -subr_gt0 dc subr_gt0. Qed.

Lemma eq_from k a b c d : a = b -> c - d = k * (a - b) -> c = d.
Proof. by move=> -> cd; apply/eqP; rewrite -subr_eq0 cd subrr mulr0. Qed.

Lemma le_plus a b c d : a <= b -> c <= d -> a + c <= b + d.
Proof.
move=> ab cd; rewrite -subr_ge0.
have -> : b + d - (a + c) = (b - a) + (d - c) by arith.
by apply: addr_ge0; rewrite subr_ge0.
Qed.

Lemma le_scale k a b : 0 <= k -> a <= b -> k * a <= k * b.
Proof.
by move=> k_ge0 ab; rewrite -subr_ge0 -mulrBr; apply: mulr_ge0 => //; rewrite subr_ge0.
Qed.

Lemma eq_of_le a b : a <= b -> b <= a -> a = b.
Proof. by move=> ab ba; apply: le_anti; rewrite ab ba. Qed.

Lemma max_left a b : a <= Num.max a b. Proof. by case: (leP a b). Qed.
Lemma max_right a b : b <= Num.max a b. Proof. by case: (leP a b) => // /ltW. Qed.
Lemma max_least a b c : a <= c -> b <= c -> Num.max a b <= c. Proof. by case: (leP a b). Qed.
Lemma min_left a b : Num.min a b <= a. Proof. by case: (leP a b) => // /ltW. Qed.
Lemma min_right a b : Num.min a b <= b. Proof. by case: (leP a b). Qed.
Lemma min_greatest a b c : c <= a -> c <= b -> c <= Num.min a b. Proof. by case: (leP a b). Qed.
Lemma min_above a b c : c < a -> c < b -> c < Num.min a b. Proof. by case: (leP a b). Qed.
Lemma max_eq_l a b : b <= a -> Num.max a b = a. Proof. by case: (leP a b) => // ab ba; apply: eq_of_le. Qed.
Lemma max_eq_r a b : a <= b -> Num.max a b = b. Proof. by case: (leP a b). Qed.
Lemma min_eq_l a b : a <= b -> Num.min a b = a. Proof. by case: (leP a b). Qed.
Lemma min_eq_r a b : b <= a -> Num.min a b = b. Proof. by case: (leP a b) => // ab ba; apply: eq_of_le. Qed.

End Small_lemmas.

Ltac linear h := first [apply: (le_from h) | apply: (lt_from h)]; arith.
Ltac from k h := apply: (eq_from (k := k) h); arith.
