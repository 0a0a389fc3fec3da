const lines = [
  ...['From: Backup <backup@nas.lan>', 'To: alerts@nas.lan', 'Subject: Backup of tank finished'],
  ...['Date: Sat, 21 Nov 2026 13:00:00 +0000', 'MIME-Version: 1.0'],
  ...['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', ''],
  ...Array.from({ length: 12 }, (_, index) => `tank/data${String(index)}  12.3 GB  done in 00:01:23`),
  ...['.', ''],
].join('\r\n');

/** Builds a mail of a backup program with a placeholder for its number. Mails of each round are unique. */
export function mail(round: string): string {
  return `Message-ID: <MARKER######@${round}>\r\n${lines}`;
}
