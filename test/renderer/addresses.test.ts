import { describe, expect, it } from 'vitest';
import { addressOf, pathOf } from '../../renderer/src/state/address.ts';
import { presentAddress } from '../../renderer/src/state/old-addresses.ts';
import { refined } from '../../renderer/src/state/refined.ts';

describe('an address of the app', () => {
  it.each([
    ['/', { service: '', thing: '', id: '' }],
    ['/downloads', { service: 'downloads', thing: '', id: '' }],
    ['/downloads/queue', { service: 'downloads', thing: '', id: '' }],
    ['/downloads/queue/a%20b', { service: 'downloads', thing: '', id: 'a b' }],
    ['/push/topics/nas', { service: 'push', thing: '', id: 'nas' }],
    ['/settings/accounts/ada.l/', { service: 'settings', thing: 'accounts', id: 'ada.l' }],
    ['/inbox/messages/100%', { service: 'inbox', thing: '', id: '100%' }],
    ['/constructor/x', { service: 'constructor', thing: 'x', id: '' }],
  ])('names a service, a thing and an id: %s', (path, address) => {
    expect(addressOf(path)).toEqual(address);
  });

  it.each([
    [{}, '/'],
    [{ service: 'push' }, '/push'],
    [{ service: 'push', id: 'nas' }, '/push/topics/nas'],
    [{ service: 'push', thing: 'delayed' }, '/push/delayed'],
    [{ service: 'delivery', thing: 'mails', id: 'a/b' }, '/delivery/mails/a%2Fb'],
    // The host takes a last part with a dot for a file.
    [{ service: 'settings', thing: 'accounts', id: 'ada.l' }, '/settings/accounts/ada.l/'],
  ])('is written from them: %o', (address, path) => {
    expect(pathOf(address)).toBe(path);
  });

  it('keeps its query when another thing is opened, and the other way round', () => {
    const query = new URLSearchParams('q=fog');
    expect(refined('/inbox', query, { id: '7' })).toBe('/inbox/messages/7?q=fog');
    expect(refined('/inbox/messages/7', query, { id: '' })).toBe('/inbox?q=fog');
    expect(refined('/inbox/messages/7', query, { q: '' })).toBe('/inbox/messages/7');
    expect(refined('/downloads/subscriptions', query, { id: '3', q: '' })).toBe('/downloads/subscriptions/3');
  });
});

describe('an address from before', () => {
  it.each([
    ['/accounts', '/settings/accounts'],
    ['/accounts?account=ada.l&q=x', '/settings/accounts/ada.l/?q=x'],
    ['/accounts?account=*', '/settings/accounts/*'],
    ['/engines', '/settings/engines'],
    ['/given-up', '/settings/problems'],
    ['/dead-letters', '/settings/problems'],
    ['/backup', '/settings/backup'],
    ['/log?level=warn', '/settings/log?level=warn'],
    ['/notify', '/delivery/keys'],
    ['/notify?key=house', '/delivery/keys/house'],
    ['/notify/history?key=house&id=7', '/delivery/history/7?key=house'],
    ['/notify/given-up', '/delivery/problems'],
    ['/mail', '/delivery/mails'],
    ['/mail?id=ab12', '/delivery/mails/ab12'],
    ['/mail/recipients', '/delivery/recipients'],
    ['/inbox/12', '/inbox/messages/12'],
    ['/inbox?id=12&source=push', '/inbox/messages/12?source=push'],
    ['/downloads?id=u1&show=failed', '/downloads/queue/u1?show=failed'],
    ['/downloads/history', '/downloads/statistics'],
    ['/downloads/subscriptions?id=3', '/downloads/subscriptions/3'],
    ['/push/nas-error-backup', '/push/topics/nas-error-backup'],
    ['/push/nas?id=abc&show=subscribe', '/push/topics/nas?show=subscribe&message=abc'],
    ['/push/constructor', '/push/topics/constructor'],
    ['/push?tab=planned&of=recurring', '/push/delayed?of=recurring'],
    ['/push?tab=keeping', '/push/retention'],
    ['/push?tab=quiet&rule=*', '/settings/notifications?rule=*'],
    ['/push/quiet?rule=nas-*', '/settings/notifications?rule=nas-*'],
    ['/push/quiet', '/settings/notifications'],
    ['/git/ada', '/git/repositories?owner=ada'],
    ['/git/ada/demo', '/git/repositories/ada~demo'],
    ['/git/ada/de.mo', '/git/repositories/ada~de.mo/'],
    ['/git/ada/demo/issues/1', '/git/repositories/ada~demo?show=issues&number=1'],
    ['/git/ada/demo/src/branch/feature/x/a.txt', '/git/repositories/ada~demo?tree=branch/feature/x/a.txt'],
    ['/git/ada/demo/commit/abcdef0', '/git/repositories/ada~demo?commit=abcdef0'],
    ['/git/ada/demo/pulls?state=closed', '/git/repositories/ada~demo?show=pulls&state=closed'],
  ])('leads to the present one: %s', (before, now) => {
    const { pathname, searchParams } = new URL(before, 'http://homeport');
    const present = presentAddress(pathname, searchParams) ?? '';
    expect(decodeURIComponent(present)).toBe(now);
    const there = new URL(present, 'http://homeport');
    expect(presentAddress(there.pathname, there.searchParams)).toBeUndefined();
  });

  it.each([
    '/',
    '/inbox',
    '/inbox?q=id',
    '/downloads/cookies',
    '/push',
    '/push?find=x',
    '/push/topics/quiet',
    '/settings/notifications?rule=*',
    '/nowhere',
    '/constructor',
  ])('is told apart from a present one: %s', (path) => {
    const { pathname, searchParams } = new URL(path, 'http://homeport');
    expect(presentAddress(pathname, searchParams)).toBeUndefined();
  });
});
