import * as m from '#messages/account-problems';
import { Password } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/** Words that attackers try first. */
const contextTerms = ['homeport', 'administrator', 'admin', 'password', 'localhost'];

let common: Promise<ReadonlySet<string>> | undefined;

/**
 * Rejects a new password that is short, common, or similar to the account's name. Existing passwords remain valid.
 * @throws Problem `accounts.weak_password` (422)
 */
export async function refuseWeakPassword(name: string, password: string): Promise<void> {
  const reason = await findWeakness(name, password);
  if (reason !== undefined) throw new Problem('accounts.weak_password', 422, reason, { fields: { password: reason } });
}

async function findWeakness(name: string, password: string): Promise<string | undefined> {
  const checked = Password.safeParse(password);
  if (!checked.success) return checked.error.issues[0]?.message;
  const lower = password.normalize('NFKC').toLowerCase();
  const commonPasswords = await (common ??= loadCommonPasswords());
  // Guessing tools derive `Password123!` from `password`.
  const stem = lower.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  if ([lower, stem].some((each) => commonPasswords.has(each)) || isRepetitive(lower)) {
    return m.commonPassword();
  }
  const terms = [...contextTerms, name.toLowerCase(), ...name.toLowerCase().split(/[^a-z0-9]+/)];
  const isContext = terms.some((word) => word.length > 2 && lower.replaceAll(word, '').length < 5);
  return isContext ? m.nameInPassword() : undefined;
}

/** Loads the list on the first new password: unpacking it takes a tenth of a second and several megabytes. */
async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** Detects repetitions (`abcabcabcabc`) and sequences (`abcdefghij`, `9876543210`). */
function isRepetitive(text: string): boolean {
  if (/^(.{1,4}?)\1+.{0,3}$/su.test(text)) return true;
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  return steps.size === 1 && [-1, 1].some((step) => steps.has(step));
}
