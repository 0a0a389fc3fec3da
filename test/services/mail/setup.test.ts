import * as problems from '#messages/mail-problems';
import * as texts from '#messages/mail-texts';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MailAccess, MailriseImport, MailTestResult } from '../../../services/contracts/mail/api.ts';
import { control } from '../../../services/control/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { needs } from '../../support/requirements.ts';

needs('openssl');

describe('mail setup', () => {
  let host: TestHost;
  let folder: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mail-set-up-'));
    host = await openTestHost({ services: [mail, control] });
  });
  afterEach(async () => {
    await host[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = <T>(path: string, method = 'GET', body?: unknown): Promise<T> =>
    api<T>(host.url('control'), path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const attempt = (mail_: object): Promise<MailTestResult> =>
    ask('/api/mail/try', 'POST', { from: 'NAS <root@nas.lan>', to: 'alerts@home', subject: '', ...mail_ });

  it('previews recipients and rules for a mail without storing it', async () => {
    const rules = [
      { from: '', subject: 'noise', to: '', drop: true },
      { from: 'root@nas.lan', subject: '', to: '', priority: 5, tag: 'night' },
    ];
    await ask('/api/settings/mail', 'PATCH', { rules });
    await expect
      .poll(() => attempt({ subject: '[FAILED] Backup', text: 'Disk full' }))
      .toMatchObject({
        accepted: true,
        rule: 2,
        dropped: false,
        deliveries: [{ target: 'notify://aggregator?tag=night', type: 'failure', priority: 5, body: 'Disk full' }],
      });
    expect(await attempt({ subject: 'Noise again' })).toEqual({
      accepted: true,
      rule: 1,
      dropped: true,
      deliveries: [],
    });
    expect(await attempt({ to: 'nobody@home', subject: 'x' })).toEqual({
      accepted: false,
      rule: null,
      dropped: false,
      deliveries: [],
    });
    expect(await ask('/api/mail/messages')).toEqual({ messages: [] });
  });

  it('parses a Mailrise configuration without files and variables of this computer', async () => {
    const text = [
      'configs:',
      '  ups: {urls: [discord://id/s3cr3t, json://x], include: [/etc/passwd]}',
      '  cam: {urls: [!env_var HOME], mailrise: {title_template: $subject}}',
      'listen: {port: 26}',
      'tls: {mode: starttls, certfile: a.pem, keyfile: b.pem}',
      'smtp: {auth: {basic: {nas: hush, ups: !env_var PATH}}}',
    ].join('\n');
    const imported = await ask<MailriseImport>('/api/mail/takeover', 'POST', { text });
    expect(imported.recipients).toEqual([{ address: 'ups', schemes: ['discord', 'json'], worded: false }]);
    expect(imported.logins).toBe(1);
    expect(imported.settings).toEqual({
      recipients: [
        {
          address: 'ups',
          to: '',
          destinations: 'discord://id/s3cr3t json://x',
          title: '',
          body: '',
          format: 'as it comes',
        },
      ],
      logins: [{ name: 'nas', password: 'hush' }],
      signIn: 'required',
    });
    expect(imported.notes.join('\n')).toBe(
      [
        texts.variableMissing({ name: 'HOME' }),
        texts.variableMissing({ name: 'PATH' }),
        texts.includeFromFiles({ name: 'ups' }),
        texts.recipientSkipped({ name: 'cam' }),
        texts.loginSkipped({ name: 'ups' }),
        texts.encryptionUnchanged(),
        texts.portUnchanged({ port: '26' }),
      ].join('\n'),
    );
    await expect(ask('/api/mail/takeover', 'POST', { text: 'configs: [' })).rejects.toThrow('This file can’t be read');
  });

  it('returns connection details and the names and expiry of the certificate', async () => {
    expect(await ask<MailAccess>('/api/mail/access')).toMatchObject({ tls: 'off', signIn: 'off', certificate: null });
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const opensslArgs = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '30',
    ];
    const subjectArguments = ['-subj', '/CN=mail.lan', '-addext', 'subjectAltName=DNS:mail.lan,IP:192.168.1.2'];
    execFileSync('openssl', [...opensslArgs, ...subjectArguments, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    await ask('/api/settings/mail', 'PATCH', { tls: 'starttls', certificateFile: cert, keyFile: key });
    await expect
      .poll(() => ask<MailAccess>('/api/mail/access'))
      .toMatchObject({
        tls: 'starttls',
        certificate: { names: ['mail.lan', '192.168.1.2'], issuer: 'mail.lan', error: '' },
      });
    const { certificate } = await ask<MailAccess>('/api/mail/access');
    expect((certificate?.until ?? 0) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    rmSync(key);
    expect((await ask<MailAccess>('/api/mail/access')).certificate).toMatchObject({
      until: null,
      error: problems.certificateInvalid(),
    });
  });
});
