import { describe, expect, it } from 'vitest';
import { parseMailrise } from '../../../services/mail/import/mailrise.ts';

describe('import of a Mailrise configuration', () => {
  const importUrls = (urls: string) =>
    parseMailrise(`configs:\n  nas:\n    urls:\n${urls}`, {
      name: 'mailrise.conf',
      folder: undefined,
      environment: {},
    });

  it('skips unsupported destinations with a note', async () => {
    const imported = await importUrls('      - json://host/secret\n      - dicsord://secret/x\n      - memory://x\n');
    expect(imported.settings['recipients']).toMatchObject([{ destinations: 'json://host/secret' }]);
    const notes = imported.notes.join('\n');
    expect(notes).toContain('nas: dicsord:// is not served here');
    expect(notes).toContain('nas: memory:// is not served here');
    expect(notes).not.toContain('secret');
  });

  it('keeps destinations of this computer, and names incomplete ones', async () => {
    const imported = await importUrls('      - windows://\n      - syslog://\n      - discord://\n');
    expect(imported.settings['recipients']).toMatchObject([{ destinations: 'windows:// syslog://' }]);
    expect(imported.notes).toContain('nas: an address of discord:// is incomplete, so it was left out.');
  });

  it('names members of a template that have no effect', async () => {
    const imported = await importUrls(
      '      - json://host/a\n    mailrise: {body_format: text, html_conversion: text}\n',
    );
    expect(imported.settings['recipients']).toMatchObject([{ format: 'text' }]);
    expect(imported.notes).toContain('nas: its html_conversion has no effect here.');
  });

  it('skips a recipient without supported destination', async () => {
    const imported = await importUrls('      - dicsord://secret/x\n');
    expect(imported.settings['recipients']).toBeUndefined();
    expect(imported.notes).toContain('nas: it has no destinations that can be used.');
  });

  it('names destinations that need the Apprise engine', async () => {
    const imported = await importUrls('      - fcm://project@key/device\n');
    expect(imported.settings['recipients']).toMatchObject([{ destinations: 'fcm://project@key/device' }]);
    expect(imported.notes.join('\n')).toContain('fcm:// need the Apprise engine');
  });
});
