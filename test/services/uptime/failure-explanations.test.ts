import * as m from '#messages/uptime-causes';
import * as texts from '#messages/uptime-texts';
import { describe, expect, it } from 'vitest';
import { withLanguage } from '../../../messages/language.ts';
import { loadLanguage } from '../../../messages/runtime.ts';
import { explainFailure } from '../../../services/contracts/uptime/causes.ts';
import type { Heartbeat, Incident, Monitor } from '../../../services/contracts/uptime/views.ts';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { api } from '../../support/api.ts';
import { openUptime } from './rig.ts';

describe('failure explanations', () => {
  it.each([
    ['getaddrinfo ENOTFOUND nas.invalid', m.nameUnknown({ name: 'nas.invalid' })],
    ['queryA ENODATA nas.example', m.nameUnknown({ name: 'nas.example' })],
    ['getaddrinfo EAI_AGAIN nas.example', m.nameLookupFailed({ name: 'nas.example' })],
    ['connect ECONNREFUSED 127.0.0.1:1', m.connectionRefusedAt({ address: '127.0.0.1:1' })],
    ['socket hang up', m.connectionLost()],
    ['read ECONNRESET', m.connectionLost()],
    ['connect EHOSTUNREACH 192.0.2.1:80', m.hostUnreachable()],
    ['connect ENETUNREACH 2001:db8::1:443', m.networkUnreachable()],
    ['timeout of 1000ms exceeded', 'No response within 1 second.'],
    ['timeout of 8000ms exceeded', m.noResponseWithin({ seconds: 8 })],
    ['connect ETIMEDOUT 192.0.2.1:80', m.noResponseInTime()],
    [
      "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b",
      m.certificateOtherName(),
    ],
    ['Request failed with status code 500', m.serverError({ code: '500' })],
    ['Request failed with status code 401', m.signInRequired({ code: '401' })],
    ['Request failed with status code 404', m.pageNotFound({ code: '404' })],
    ['Request failed with status code 206', m.statusNotAccepted({ code: '206' })],
    ['200 - OK, but keyword is not in [Hello there]', m.keywordMissing()],
    ['200 - OK, but keyword is present in [Error]', m.keywordPresent()],
    ['JSON query does not pass (comparing 3 == 5)', m.valueDiffers({ value: '3', expected: '5' })],
    [
      'JSON query does not pass (comparing 3 >= 5)',
      m.valueFailsCondition({ value: '3', operator: '>=', expected: '5' }),
    ],
    ['No heartbeat in the time window', m.jobLate()],
    ['Container State is exited', m.containerNotRunning({ state: 'exited' })],
  ])('translates "%s" to "%s"', (msg, explanation) => {
    expect(explainFailure({ msg })).toBe(explanation);
  });

  it.each(['200 - OK', 'The server offers nothing', 'The disk is full.', ''])('keeps "%s" unchanged', (msg) => {
    expect(explainFailure({ msg })).toBeUndefined();
  });

  it.each([
    ['not_redis', {}, m.notRedis],
    ['own_port_refused', { port: '2342' }, () => m.ownPortRefused({ port: '2342' })],
    ['certificate_untrusted', { reason: 'CERT_HAS_EXPIRED' }, m.certificateExpired],
    ['response_too_large', { limit: 64 }, () => m.responseTooLarge({ limit: 64 })],
  ])('explains the failure %s in the language of the reader', async (code, parameters, explain) => {
    await loadLanguage('de');
    for (const language of ['en', 'de']) {
      const text = withLanguage(language, () => explainFailure({ msg: 'In English', failure: { code, parameters } }));
      expect(text).toBe(withLanguage(language, explain));
    }
  });

  it('explains the message when the failure is of another version', () => {
    const [msg, parameters] = ['socket hang up', {}];
    for (const code of ['unknown_code', 'response_too_large', 'constructor']) {
      expect(explainFailure({ msg, failure: { code, parameters } })).toBe(m.connectionLost());
    }
  });

  it('stores the failure that a check states with its heartbeat and its incident', async () => {
    await using rig = await openUptime();
    const { id } = await rig.add({ type: 'http', name: 'Cloud', url: 'http://169.254.169.254/', interval: 20 });
    await rig.until(id, 0);
    const failure = { code: 'link_local_refused', parameters: { address: '169.254.169.254' } };
    const url = rig.host.url('control');
    await expect
      .poll(async () => (await api<{ items: Incident[] }>(url, '/api/uptime/incidents')).items)
      .toMatchObject([{ failure, cause: expect.stringContaining('169.254.169.254 is a link-local') as string }]);
    const { items } = await api<{ items: Heartbeat[] }>(url, `/api/uptime/monitors/${String(id)}/beats`);
    expect(items[0]).toMatchObject({ failure, status: 0 });
    expect((await api<Monitor>(url, `/api/uptime/monitors/${String(id)}`)).state).toMatchObject({ failure });
    const event = (await rig.events('down', id))[0];
    expect(event?.body).toContain(m.linkLocalRefused({ address: '169.254.169.254' }));
  });

  it('replaces the check message in notifications', async () => {
    await using rig = await openUptime();
    const { id } = await rig.add({ type: 'port', name: 'NAS', hostname: '127.0.0.1', port: 1, interval: 20 });
    await rig.until(id, 0);
    const event = (await rig.events('down', id))[0];
    // The address occurs once, although the original message contains it as well.
    expect(event?.body).toBe(m.connectionRefusedAt({ address: '127.0.0.1:1' }));
    expect(event?.event['msg']).toBe('connect ECONNREFUSED 127.0.0.1:1');
  });

  it('links from Home to the monitor that is down', async () => {
    await using rig = await openUptime();
    const getServiceState = async (): Promise<Pick<ServiceState, 'detail' | 'remedy'> | undefined> => {
      const { services } = await api<{ services: ServiceState[] }>(rig.host.url('control'), '/api/services');
      return services.find(({ id }) => id === 'uptime');
    };
    const fields = { type: 'port', hostname: '127.0.0.1', port: 1, interval: 20 };
    const { id } = await rig.add({ ...fields, name: 'NAS' });
    await rig.until(id, 0);
    await expect.poll(async () => (await getServiceState())?.detail).toBe(texts.healthDown({ count: 1, names: 'NAS' }));
    expect((await getServiceState())?.remedy).toEqual({
      label: texts.viewMonitor(),
      to: `/uptime/monitors/${String(id)}`,
    });
    await rig.until((await rig.add({ ...fields, name: 'Printer' })).id, 0);
    await expect
      .poll(async () => (await getServiceState())?.detail)
      .toBe(texts.healthDown({ count: 2, names: 'NAS and Printer' }));
    expect((await getServiceState())?.remedy?.to).toBe('/uptime');
  });
});
