/** Notification of a mail. */
export interface ExpectedNotification {
  readonly title?: string;
  readonly body?: string;
  readonly type?: string;
}

/**
 * Intended differences from recorded notifications with their reason. Everything else is equal except for line ends.
 */
export const notificationDifferences: Readonly<Record<string, ExpectedNotification>> = {
  // Attachments are forwarded and listed in the last line, for destinations without files.
  'dsn-bounce': { body: 'I could not deliver your message.\n\n[attachment: delivery-status.txt]' },
  'mixed-attachments': { body: 'html body\n[attachments: dot.png, bericht ü.pdf]' },
  'related-inline': { body: 'see\n[attachment: image-1.png]' },
  'swaks-attach': { body: 'with attachment\n\n[attachment: dot.png]' },
  'type-alternative-calendar': { body: 'meeting\n\n[attachment: invitation.ics]' },
  // Image without text: the subject is more helpful than "[no body]".
  'attachment-only': { body: 'camera motion\n\n[attachment: cam.png]' },
  'camera-mixed-no-text': { body: 'Motion detected\n\n[attachment: cam.png]' },
  // Mailrise refuses these, some permanently.
  'message-rfc822': {
    title: 'forwarded (NAS <nas@example.com>)',
    body: 'see fwd\n\n[attachment: message.eml]',
    type: 'info',
  },
  'nodemailer-alt-related': {
    title: '✅ [up] My Site (Uptime <up@example.com>)',
    body: 'Service is up\n[attachments: logo.png, 日本.txt]',
    type: 'success',
  },
  'smtplib-alternative-csv': {
    title: 'Ünïcode ✅ report (Größe <nas@example.com>)',
    body: 'Report\nAll good ✓\n[attachment: größe.csv]',
    type: 'info',
  },
  'unknown-charset': { title: 'unknown charset (NAS <nas@example.com>)', body: 'body here', type: 'info' },
  'long-line': { title: 'long line (NAS <nas@example.com>)', body: 'x'.repeat(5000), type: 'info' },
  // Malformed mails are not lost.
  'broken-boundary': { body: 'no boundary in here at all' },
  'undeclared-8bit': { body: 'Grüße ohne charset' },
  'undeclared-latin1': { body: 'Grüße ohne charset' },
  'latin1-qp': { body: 'Schöne Grüße, 10€? eine lange Zeile die umgebrochen wird weil sie zu lang ist' },
  // Some destinations refuse an empty message.
  'empty-body': { body: 'empty body' },
  'no-body': { body: 'no body' },
  'nul-bytes': { body: 'ab' },
  'subject-crlf-injection': { title: 'a X-Evil: 1 (NAS <nas@example.com>)' },
  // Marked as urgent by the sender.
  'smart-headers': { type: 'warning' },
  // Mails of known programs are improved.
  'msmtp-cron': { title: 'Cron on host: /usr/local/bin/backup.sh', type: 'warning' },
  'curl-watchtower-like': { title: 'Watchtower on nas: 1 updated', type: 'success' },
};

/** Different reply codes, by recipient case: `RCPT TO` and `DATA` in recorded order. Undefined: nothing is sent. */
export const replyDifferences: Readonly<
  Record<
    string,
    {
      readonly codes?: readonly number[];
      readonly notifications?: readonly (ExpectedNotification & { readonly path: string })[];
    }
  >
> = {
  // Unknown recipients are refused, instead of accepted and dropped.
  'rcpt-unknown': { codes: [250, 550] },
  'rcpt-unknown-type': { codes: [250, 550] },
  'rcpt-plus': { codes: [250, 550] },
  'rcpt-one-good-one-unknown': { codes: [250, 250, 550, 250] },
  // After 250, delivery is guaranteed; a failing destination is retried without repeating successful ones.
  'rcpt-dead': { codes: [250, 250, 250], notifications: [{ path: '/dead' }] },
  'rcpt-half': { codes: [250, 250, 250] },
  'rcpt-good-and-dead': { codes: [250, 250, 250, 250], notifications: [{ path: '/basic' }, { path: '/dead' }] },
  // One notification per mail, regardless of repeated recipients.
  'rcpt-duplicate': { notifications: [{ path: '/basic' }] },
  // A name matches any domain, ignoring case, and so does its type.
  'rcpt-other-domain': { notifications: [{ path: '/basic' }] },
  'rcpt-user-case': { notifications: [{ path: '/basic' }] },
  'rcpt-uppercase-type': { notifications: [{ path: '/basic', type: 'failure' }] },
};
