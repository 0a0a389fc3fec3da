/** What became of a mail: the notice it turned into. */
export interface Told {
  readonly title?: string;
  readonly body?: string;
  readonly type?: string;
}

/** Where a mail's notice is another than the recorded one, and why. The rest is equal but for line ends. */
export const toldDifferently: Readonly<Record<string, Told>> = {
  // Attachments go along and are named in the last line, for destinations that take no files.
  'dsn-bounce': { body: 'I could not deliver your message.\n\n[attachment: delivery-status.txt]' },
  'mixed-attachments': { body: 'html body\n[attachments: dot.png, bericht ü.pdf]' },
  'related-inline': { body: 'see\n[attachment: image-1.png]' },
  'swaks-attach': { body: 'with attachment\n\n[attachment: dot.png]' },
  'type-alternative-calendar': { body: 'meeting\n\n[attachment: invitation.ics]' },
  // A picture without words: the subject says more than "[no body]".
  'attachment-only': { body: 'camera motion\n\n[attachment: cam.png]' },
  'camera-mixed-no-text': { body: 'Motion detected\n\n[attachment: cam.png]' },
  // The peer refuses these, some for ever.
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
  // Nothing is lost for its form.
  'broken-boundary': { body: 'no boundary in here at all' },
  'undeclared-8bit': { body: 'Grüße ohne charset' },
  'undeclared-latin1': { body: 'Grüße ohne charset' },
  'latin1-qp': { body: 'Schöne Grüße, 10€? eine lange Zeile die umgebrochen wird weil sie zu lang ist' },
  // Some destinations refuse an empty message.
  'empty-body': { body: 'empty body' },
  'no-body': { body: 'no body' },
  'nul-bytes': { body: 'ab' },
  'subject-crlf-injection': { title: 'a X-Evil: 1 (NAS <nas@example.com>)' },
  // Marked as urgent by its sender.
  'smart-headers': { type: 'warning' },
  // Programs that many people run are told in their own way.
  'msmtp-cron': { title: 'Cron on host: /usr/local/bin/backup.sh', type: 'warning' },
  'curl-watchtower-like': { title: 'Watchtower on nas: 1 updated', type: 'success' },
};

/** Codes that differ, by recipient case: `RCPT TO` and `DATA` in the order of the recording. Undefined: nothing is sent. */
export const answeredDifferently: Readonly<
  Record<string, { readonly codes?: readonly number[]; readonly told?: readonly (Told & { readonly path: string })[] }>
> = {
  // Nobody is there: said at once, in place of a 250 and silence.
  'rcpt-unknown': { codes: [250, 550] },
  'rcpt-unknown-type': { codes: [250, 550] },
  'rcpt-plus': { codes: [250, 550] },
  'rcpt-one-good-one-unknown': { codes: [250, 250, 550, 250] },
  // Delivery is ours from the 250 on; a dead destination is tried again without a repetition at the healthy ones.
  'rcpt-dead': { codes: [250, 250, 250], told: [{ path: '/dead' }] },
  'rcpt-half': { codes: [250, 250, 250] },
  'rcpt-good-and-dead': { codes: [250, 250, 250, 250], told: [{ path: '/basic' }, { path: '/dead' }] },
  // One mail, one notice, however often its recipient is named.
  'rcpt-duplicate': { told: [{ path: '/basic' }] },
  // A name stands for that name at any domain, in any case, as does its type.
  'rcpt-other-domain': { told: [{ path: '/basic' }] },
  'rcpt-user-case': { told: [{ path: '/basic' }] },
  'rcpt-uppercase-type': { told: [{ path: '/basic', type: 'failure' }] },
};
