/** Purpose of a mail. */
export type MailPurpose = 'signup' | 'invite' | 'recovery' | 'magiclink' | 'email_change' | 'reauthentication';

export interface MailText {
  readonly subject: string;
  readonly body: string;
}

const texts: Readonly<Record<MailPurpose, { readonly subject: string; readonly ask: string }>> = {
  signup: { subject: 'Confirm your signup', ask: 'Follow this link to confirm your address:' },
  invite: { subject: 'You have been invited', ask: 'You have been invited. Follow this link to accept:' },
  recovery: { subject: 'Reset your password', ask: 'Follow this link to choose a new password:' },
  magiclink: { subject: 'Your sign-in link', ask: 'Follow this link to sign in:' },
  email_change: {
    subject: 'Confirm the change of your address',
    ask: 'Follow this link to confirm the change of your address',
  },
  reauthentication: { subject: 'Your code', ask: '' },
};

/** Builds a plain text mail. The link is on its own line, so that every mail program makes it clickable. */
export function mailText(
  purpose: MailPurpose,
  {
    site,
    link,
    code,
    change,
  }: {
    readonly site: string;
    readonly link?: string;
    readonly code: string;
    readonly change?: { readonly from: string; readonly to: string };
  },
): MailText {
  const { subject, ask } = texts[purpose];
  const about = change === undefined ? ask : `${ask} from ${change.from} to ${change.to}:`;
  const instructions =
    link === undefined ? [`Enter this code: ${code}`] : [about, '', link, '', `Or enter this code: ${code}`];
  const end = `This was asked for at ${site}. If it was not you, do nothing.`;
  return { subject, body: [...instructions, '', end].join('\n') };
}
