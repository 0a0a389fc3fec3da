import type { Envelope } from '../accept/envelope.ts';

/** Creates a mail that tests the path from an address to a notification. */
export function buildTestMail(recipient: string, now: number, id: string): readonly [Envelope, Buffer] {
  const lines = [
    'From: Homeport <test@localhost>',
    `To: ${recipient.replace(/[^\x21-\x7e]/g, '?')}`,
    'Subject: Test mail',
    `Date: ${new Date(now).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@localhost>`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'This is a test of the mail gateway: what was sent to this address arrives.',
    '',
  ];
  const envelope = { sender: 'test@localhost', recipients: [recipient], remoteAddress: 'this app' };
  return [envelope, Buffer.from(lines.join('\r\n'))];
}
