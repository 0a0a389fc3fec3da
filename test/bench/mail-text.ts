const lines = [
  ...['From: Backup <backup@nas.lan>', 'To: alerts@nas.lan', 'Subject: Backup of tank finished'],
  ...['Date: Sat, 21 Nov 2026 13:00:00 +0000', 'MIME-Version: 1.0'],
  ...['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit', ''],
  ...Array.from({ length: 12 }, (_, at) => `tank/data${String(at)}  12.3 GB  done in 00:01:23`),
  ...['.', ''],
].join('\r\n');

/** A mail as a backup program writes it, with the place of its number; those of another round are others. */
export function mail(round: string): string {
  return `Message-ID: <MARKER######@${round}>\r\n${lines}`;
}
