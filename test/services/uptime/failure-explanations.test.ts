import { describe, expect, it } from 'vitest';
import { explainFailure } from '../../../services/contracts/uptime/causes.ts';
import type { ServiceState } from '../../../services/contracts/control/api.ts';
import { api } from '../../support/api.ts';
import { openUptime } from './rig.ts';

describe('failure explanations', () => {
  it.each([
    ['getaddrinfo ENOTFOUND nas.invalid', 'The name nas.invalid does not exist.'],
    ['queryA ENODATA nas.example', 'The name nas.example does not exist.'],
    ['getaddrinfo EAI_AGAIN nas.example', 'The name nas.example could not be looked up just now.'],
    ['connect ECONNREFUSED 127.0.0.1:1', 'It refused the connection: nothing listens at 127.0.0.1:1.'],
    ['socket hang up', 'It broke off the connection.'],
    ['read ECONNRESET', 'It broke off the connection.'],
    ['connect EHOSTUNREACH 192.0.2.1:80', 'It cannot be reached: no such device answers on the way.'],
    ['connect ENETUNREACH 2001:db8::1:443', 'No network leads there from this machine.'],
    ['timeout of 1000ms exceeded', 'It did not answer within a second.'],
    ['timeout of 8000ms exceeded', 'It did not answer within 8 seconds.'],
    ['connect ETIMEDOUT 192.0.2.1:80', 'It did not answer in time.'],
    ['certificate is not trusted: it has expired (CERT_HAS_EXPIRED)', 'Its certificate ran out.'],
    [
      'certificate is not trusted: it signed itself (DEPTH_ZERO_SELF_SIGNED_CERT)',
      'Its certificate is not trusted: it signed itself.',
    ],
    [
      "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b",
      'Its certificate is for another name.',
    ],
    ['Request failed with status code 500', 'It reports a fault on its side (500).'],
    ['Request failed with status code 401', 'It asks for a sign-in (401).'],
    ['Request failed with status code 404', 'There is no such page (404).'],
    ['Request failed with status code 206', 'It answered 206, which this monitor does not accept.'],
    ['200 - OK, but keyword is not in [Hello there]', 'The keyword is not on the page.'],
    ['200 - OK, but keyword is present in [Error]', 'The keyword that must not be there is on the page.'],
    ['JSON query does not pass (comparing 3 == 5)', 'The value is 3; it should be 5.'],
    ['JSON query does not pass (comparing 3 >= 5)', 'The value is 3; it should be >= 5.'],
    ['No heartbeat in the time window', 'The job has not reported in time.'],
    ['Container State is exited', 'The container does not run: exited.'],
  ])('translates "%s" to "%s"', (msg, explanation) => {
    expect(explainFailure(msg)).toBe(explanation);
  });

  it.each(['200 - OK', 'The server does not offer STARTTLS', 'The disk is full.', ''])(
    'keeps "%s" unchanged',
    (msg) => {
      expect(explainFailure(msg)).toBeUndefined();
    },
  );

  it('replaces the check message in notifications', async () => {
    await using rig = await openUptime();
    const { id } = await rig.add({ type: 'port', name: 'NAS', hostname: '127.0.0.1', port: 1, interval: 20 });
    await rig.until(id, 0);
    const event = (await rig.events('down', id))[0];
    // The address occurs once, although the original message contains it as well.
    expect(event?.body).toBe('It refused the connection: nothing listens at 127.0.0.1:1.');
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
    await expect.poll(async () => (await getServiceState())?.detail).toBe('NAS is down');
    expect((await getServiceState())?.remedy).toEqual({
      label: 'See what is down',
      to: `/uptime/monitors/${String(id)}`,
    });
    await rig.until((await rig.add({ ...fields, name: 'Printer' })).id, 0);
    await expect.poll(async () => (await getServiceState())?.detail).toBe('NAS and Printer are down');
    expect((await getServiceState())?.remedy?.to).toBe('/uptime');
  });
});
