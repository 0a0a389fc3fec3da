import * as m from '#messages/notify-inbound';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NotifyHistoryEntry } from '../../../services/contracts/notify/history.ts';
import { control } from '../../../services/control/index.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { notify } from '../../../services/notify/index.ts';
import { recognizePayload } from '../../../services/notify/inbound/catalogue.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { variants } from './inbound/variants.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost({ services: [notify, control] });
  await api(host.url('control'), '/api/settings/host', { method: 'PATCH', body: JSON.stringify({ language: 'de' }) });
});
afterAll(() => host[Symbol.asyncDispose]());

it('composes notifications of other programs in the language of the host, whatever the program requests', async () => {
  const reply = await fetch(`${host.url('notify')}/notify/aggregator`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Accept-Language': 'fr' },
    body: JSON.stringify({
      heartbeat: { status: 0 },
      monitor: { name: 'Shop', url: 'https://shop.example' },
      msg: 'connect ECONNREFUSED',
    }),
  });
  expect(reply.status).toBeLessThan(500);
  const { notices } = await api<{ notices: readonly NotifyHistoryEntry[] }>(host.url('control'), '/api/notify/notices');
  const [title, label] = await runInLanguage({ language: 'de', locale: 'de' }, () => [
    m.monitorDown({ name: 'Shop' }),
    m.monitor(),
  ]);
  expect(notices[0]).toMatchObject({ title, body: `connect ECONNREFUSED\n${label}: https://shop.example` });
});

it.each(['de', 'fr', 'es'])('has no English words of its own in %s', async (language) => {
  const english =
    /\b(pushed|deleted|created|opened|merged|By|grabbed|imported|upgraded|removed|updated|failed|Since)\b/;
  const names = Object.keys(variants).filter((name) => !/an event nobody|says nothing|wrong type/.test(name));
  const texts = await runInLanguage({ language, locale: language }, () =>
    names.map((name) => {
      const [body, headers = {}] = variants[name]!;
      const { title, body: text } = recognizePayload(body, (header) => headers[header], 'text') ?? {};
      return `${title ?? ''}\n${text ?? ''}`;
    }),
  );
  expect(texts.filter((text) => english.test(text))).toEqual([]);
});

it('keeps an action that it does not know in the words of the program', async () => {
  const body = {
    action: 'enqueued_for_audit',
    number: 7,
    pull_request: { number: 7, title: 'Add retry' },
    repository: { full_name: 'o/r' },
    sender: { login: 'ada' },
  };
  const header = (name: string) => (name === 'x-github-event' ? 'pull_request' : undefined);
  const notification = await runInLanguage({ language: 'de', locale: 'de' }, () =>
    recognizePayload(body, header, 'text'),
  );
  expect(notification?.title ?? '').toContain('enqueued for audit');
});
