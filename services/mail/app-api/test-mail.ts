import * as m from '#messages/mail-texts';
import type { Envelope } from '../accept/envelope.ts';

/**
 * Creates a mail that tests the path from an address to a notification, in the language of the reader who sends it. Its
 * lines end as those of any mail (RFC 5322), and a subject that is not in ASCII is encoded (RFC 2047).
 */
export function buildTestMail(recipient: string, now: number, id: string): readonly [Envelope, Buffer] {
  const lines = [
    'From: Homeport <test@localhost>',
    `To: ${recipient.replace(/[^\x21-\x7e]/g, '?')}`,
    `Subject: ${encodeHeader(m.testSubject())}`,
    `Date: ${new Date(now).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@localhost>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    m.testBody(),
    '',
  ];
  const envelope = { sender: 'test@localhost', recipients: [recipient], remoteAddress: 'this app' };
  return [envelope, Buffer.from(lines.join('\r\n'))];
}

/** Maximum number of characters of an encoded word. A character has up to four bytes, and a word 75 characters. */
const maxWordLength = 11;

/** Encodes a header value that is not in ASCII, in words that are joined by their reader. */
function encodeHeader(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  const characters = [...value];
  const encodedWords: string[] = [];
  for (let start = 0; start < characters.length; start += maxWordLength) {
    const part = characters.slice(start, start + maxWordLength).join('');
    encodedWords.push(`=?utf-8?B?${Buffer.from(part).toString('base64')}?=`);
  }
  return encodedWords.join('\r\n ');
}
