import { describe, expect, it } from 'vitest';
import { readMailrise } from '../../../services/mail/import/mailrise.ts';

describe('import of a Mailrise configuration', () => {
  const read = (urls: string) =>
    readMailrise(`configs:\n  nas:\n    urls:\n${urls}`, { name: 'mailrise.conf', folder: undefined, environment: {} });

  it('leaves out destinations that nothing here serves, and says so', async () => {
    const taken = await read('      - json://host/secret\n      - dicsord://secret/x\n      - memory://x\n');
    expect(taken.settings['recipients']).toMatchObject([{ destinations: 'json://host/secret' }]);
    const notes = taken.notes.join('\n');
    expect(notes).toContain('nas: dicsord:// is not served here');
    expect(notes).toContain('nas: memory:// is not served here');
    expect(notes).not.toContain('secret');
  });

  it('refuses a recipient of which nothing is left', async () => {
    const taken = await read('      - dicsord://secret/x\n');
    expect(taken.settings['recipients']).toBeUndefined();
    expect(taken.notes).toContain('nas: it has no destinations that can be used.');
  });

  it('says which destinations need the Apprise engine', async () => {
    const taken = await read('      - fcm://project@key/device\n');
    expect(taken.settings['recipients']).toMatchObject([{ destinations: 'fcm://project@key/device' }]);
    expect(taken.notes.join('\n')).toContain('fcm:// need the Apprise engine');
  });
});
