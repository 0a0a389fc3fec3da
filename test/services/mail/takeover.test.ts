import * as texts from '#messages/mail-texts';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { importMailrise } from '../../../services/mail/import/mailrise.ts';

const entry = fileURLToPath(new URL('../../../main/homeport.mjs', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailrise-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configuration = `
configs:
  basic:
    urls:
      - json://host/a
      - json://host/b:
          tag: x
          method: PUT
      - url: !env_var HOOK json://fallback/c
  "awesome*@mycooldomain.com":
    urls: discord://id/token
    mailrise:
      title_template: "[$type] $subject"
      body_template: $body
      body_format: markdown
  filed:
    include: [more.conf, more.yaml, "https://host/remote.conf", gone.conf]
  "*":
    urls: [json://catch]
  empty: {}
listen: {port: 8026}
tls: {mode: starttlsrequire, certfile: cert.pem, keyfile: /abs/key.pem}
smtp:
  hostname: mail.lan
  auth:
    basic: {nas: !env_var NAS_PASSWORD, cam: 1234}
import_code: x.py
`;

describe('Mailrise configuration', () => {
  it('is imported as recipients, logins and encryption, with notes about the rest', async () => {
    writeFileSync(join(folder, 'mailrise.conf'), configuration);
    writeFileSync(join(folder, 'more.conf'), '# comment\nday,night=json://more/1\ninclude even.conf\n');
    writeFileSync(join(folder, 'even.conf'), 'json://more/2\n');
    writeFileSync(join(folder, 'more.yaml'), 'urls:\n  - json://more/3\n');
    const { settings, notes } = await importMailrise(folder, { HOOK: 'json://real/c', NAS_PASSWORD: 's3cr3t' });
    const usual = { to: '', title: '', body: '', format: 'as it comes' };
    expect(settings).toEqual({
      recipients: [
        { ...usual, address: 'basic', destinations: 'json://host/a json://host/b?method=PUT json://real/c' },
        {
          ...{ address: 'awesome*@mycooldomain.com', to: '', destinations: 'discord://id/token' },
          ...{ title: '[$type] $subject', body: '$body', format: 'markdown' },
        },
        { ...usual, address: 'filed', destinations: 'json://more/1 json://more/2 json://more/3' },
        { ...usual, address: '*@mailrise.xyz', destinations: 'json://catch' },
      ],
      logins: [
        { name: 'nas', password: 's3cr3t' },
        { name: 'cam', password: '1234' },
      ],
      ...{ signIn: 'required', hostName: 'mail.lan', port: 8026, tls: 'required' },
      ...{ certificateFile: join(folder, 'cert.pem'), keyFile: '/abs/key.pem' },
    });
    expect(notes).toEqual([
      texts.imported({ recipients: 4, logins: 2 }),
      texts.includeFromNetwork({ name: 'filed' }),
      `filed: the included file ${join(folder, 'gone.conf')} can’t be read.`,
      texts.recipientSkipped({ name: 'empty' }),
      texts.importedCode(),
    ]);
  });

  it('is refused when invalid, without repeating it', async () => {
    await expect(importMailrise(folder, {})).rejects.toMatchObject({ code: 'mail.nothing_to_take_over' });
    for (const text of ['configs: [s3cr3t', 'configs: s3cr3t', 's3cr3t']) {
      writeFileSync(join(folder, 'mailrise.conf'), text);
      const refused: unknown = await importMailrise(folder, {}).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'mail.unreadable', status: 422 });
      expect(String(refused)).not.toContain('s3cr3t');
    }
  });

  it('is taken as far as it can be read; each value that cannot is named', async () => {
    const text = `
configs:
  plain: json://host/plain
  list: [json://host/1, json://host/2]
  nothing:
  number: {urls: [json://host/n], mailrise: {title_template: 7, body_template: ok, body_format: rich}}
  odd: {urls: [json://host/o], mailrise: none}
  long: {urls: [json://host/l], mailrise: {title_template: ${'x'.repeat(2000)}}}
  variable: {urls: [json://host/v, !env_var NOT_SET]}
  tagged: {urls: [!secret json://host/t]}
  twice: {urls: json://host/first}
  twice: {urls: json://host/second}
listen: {host: 0.0.0.0, port: "8027"}
tls: {mode: tlsv9, certfile: [a]}
smtp:
  hostname: {a: b}
  auth: {basic: {nas: !env_var NO_PASSWORD, cam: [1]}}
unknown: [1, 2]
`;
    writeFileSync(join(folder, 'mailrise.conf'), text);
    const { settings, notes } = await importMailrise(folder, {});
    const recipients = settings['recipients'] as { address: string; destinations: string; format: string }[];
    expect(recipients.map(({ address, destinations }) => [address, destinations])).toEqual([
      ['plain', 'json://host/plain'],
      ['list', 'json://host/1 json://host/2'],
      ['number', 'json://host/n'],
      ['odd', 'json://host/o'],
      ['variable', 'json://host/v'],
      ['tagged', 'json://host/t'],
      ['twice', 'json://host/second'],
    ]);
    expect(recipients[2]).toMatchObject({ title: '', body: 'ok', format: 'as it comes' });
    expect(settings).toMatchObject({ port: 8027, signIn: 'required' });
    for (const name of ['logins', 'hostName', 'tls', 'certificateFile']) expect(settings).not.toHaveProperty(name);
    for (const message of [
      texts.imported({ recipients: 7, logins: 0 }),
      texts.variableMissing({ name: 'NOT_SET' }),
      texts.recipientSkipped({ name: 'nothing' }),
      texts.templateSkipped({ name: 'number', field: 'title_template' }),
      texts.formatUnknown({ name: 'number' }),
      texts.templatesSkipped({ name: 'odd' }),
      texts.entrySkipped({ name: 'long' }),
      texts.encryptionUnknown(),
      texts.textSkipped({ name: 'smtp.hostname' }),
      texts.loginSkipped({ name: 'nas' }),
      texts.loginSkipped({ name: 'cam' }),
    ])
      expect(notes.join('\n')).toContain(message);
  });

  it.each(['smtp: {auth: {basic: nas}}', 'smtp: {auth: none}'])(
    'never opens the gateway to everybody: %s',
    async (smtp) => {
      writeFileSync(join(folder, 'mailrise.conf'), `configs: {a: json://host/a}\n${smtp}\n`);
      expect((await importMailrise(folder, {})).settings).toMatchObject({ signIn: 'required' });
    },
  );

  it('is imported by the command from its file', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'my.yaml'), 'configs: {basic: {urls: [json://host/a]}}\nlisten: {port: 8026}\n');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...[entry, 'import', 'mailrise', join(folder, 'my.yaml'), '--data-dir', join(folder, 'data')],
    ]);
    expect(stdout).toContain(texts.imported({ recipients: 1, logins: 0 }));
    const savedSettings = parse(readFileSync(join(folder, 'data', 'homeport.yaml'), 'utf8')) as {
      services: { mail: { port: number; recipients: readonly { address: string }[] } };
    };
    expect(savedSettings.services.mail).toMatchObject({ port: 8026, recipients: [{ address: 'basic' }] });
  });
});
