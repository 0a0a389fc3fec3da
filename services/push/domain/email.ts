import { refuse } from './refusals.ts';

const address = /^[^\s@<>,;"]+@[^\s@<>,;"]+$/;

/**
 * Parses the recipient of a mail. `yes` means the account's verified address in ntfy, which accounts do not have here.
 *
 * @throws Problem 40050, 40052, 40053
 */
export function parseEmail(text: string, isKnown: boolean): string {
  if (/^(?:1|yes|true)$/i.test(text)) throw refuse(isKnown ? 'email_unverified' : 'email_anonymous');
  if (text.length > 320 || !address.test(text)) throw refuse('email_invalid');
  return text;
}
