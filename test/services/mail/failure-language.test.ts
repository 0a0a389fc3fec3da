import * as m from '#messages/mail-problems';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { MailDetail, SpooledMail } from '../../../services/contracts/mail/api.ts';
import { control } from '../../../services/control/index.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';

let host: TestHost;
let id: string;
beforeAll(async () => {
  host = await openTestHost({ services: [mail, notify, control] });
  const body = JSON.stringify({ recipients: [{ address: 'alerts', to: 'notify://missing' }] });
  await api(host.url('control'), '/api/settings/mail', { method: 'PATCH', body });
  const base = host.url('control');
  // The page that sends the mail is in Spanish, those that show the failure are not.
  ({ id } = await vi.waitFor(() =>
    api<{ id: string }>(base, '/api/mail/test', {
      method: 'POST',
      headers: { 'Accept-Language': 'es' },
      body: JSON.stringify({ address: 'alerts@nas' }),
    }),
  ));
  await vi.waitFor(async () => {
    const { messages } = await api<{ messages: SpooledMail[] }>(base, '/api/mail/messages');
    expect(messages[0]?.state).toBe('dead');
  });
});
afterAll(() => host[Symbol.asyncDispose]());

it.each(['en', 'de', 'fr', 'es'])('shows why a delivery failed in the language %s of the reader', async (language) => {
  const detail = await api<MailDetail>(host.url('control'), `/api/mail/messages/${id}`, {
    headers: { 'Accept-Language': language },
  });
  const reason = await runInLanguage({ language, locale: language }, m.unknownKey);
  expect(detail.deliveries).toMatchObject([{ state: 'dead', reason }]);
});
