import * as texts from '#messages/mail-texts';
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
    expect(notes).toContain(texts.destinationUnsupported({ name: 'nas', scheme: 'dicsord://' }));
    expect(notes).toContain(texts.destinationUnsupported({ name: 'nas', scheme: 'memory://' }));
    expect(notes).not.toContain('secret');
  });

  it('keeps destinations of this computer, and names incomplete ones', async () => {
    const imported = await importUrls('      - windows://\n      - syslog://\n      - discord://\n');
    expect(imported.settings['recipients']).toMatchObject([{ destinations: 'windows:// syslog://' }]);
    expect(imported.notes).toContain(texts.destinationIncomplete({ name: 'nas', scheme: 'discord://' }));
  });

  it('names members of a template that have no effect', async () => {
    const imported = await importUrls(
      '      - json://host/a\n    mailrise: {body_format: text, html_conversion: text}\n',
    );
    expect(imported.settings['recipients']).toMatchObject([{ format: 'text' }]);
    expect(imported.notes).toContain(texts.optionIgnored({ name: 'nas', field: 'html_conversion' }));
  });

  it('skips a recipient without supported destination', async () => {
    const imported = await importUrls('      - dicsord://secret/x\n');
    expect(imported.settings['recipients']).toBeUndefined();
    expect(imported.notes).toContain(texts.recipientSkipped({ name: 'nas' }));
  });

  it('names destinations that need the Apprise engine', async () => {
    const imported = await importUrls('      - fcm://project@key/device\n');
    expect(imported.settings['recipients']).toMatchObject([{ destinations: 'fcm://project@key/device' }]);
    expect(imported.notes.join('\n')).toContain(texts.destinationsNeedEngine({ name: 'nas', schemes: 'fcm://' }));
  });
});
