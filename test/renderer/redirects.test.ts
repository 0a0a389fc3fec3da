import { describe, expect, it } from 'vitest';
import { parsePath, buildPath } from '../../renderer/src/state/page-path.ts';
import { findRedirect } from '../../renderer/src/state/redirects.ts';
import { withQueryFields } from '../../renderer/src/state/url-query.ts';

describe('paths of the app', () => {
  it.each([
    ['/', { service: '', section: '', id: '' }],
    ['/downloads', { service: 'downloads', section: '', id: '' }],
    ['/downloads/queue', { service: 'downloads', section: '', id: '' }],
    ['/downloads/queue/a%20b', { service: 'downloads', section: '', id: 'a b' }],
    ['/push/topics/nas', { service: 'push', section: '', id: 'nas' }],
    ['/settings/accounts/ada.l/', { service: 'settings', section: 'accounts', id: 'ada.l' }],
    ['/inbox/messages/100%', { service: 'inbox', section: '', id: '100%' }],
    ['/constructor/x', { service: 'constructor', section: 'x', id: '' }],
  ])('parses page, section and id: %s', (path, address) => {
    expect(parsePath(path)).toEqual(address);
  });

  it.each([
    [{}, '/'],
    [{ service: 'push' }, '/push'],
    [{ service: 'push', id: 'nas' }, '/push/topics/nas'],
    [{ service: 'push', section: 'delayed' }, '/push/delayed'],
    [{ service: 'delivery', section: 'mails', id: 'a/b' }, '/delivery/mails/a%2Fb'],
    // The host treats a last segment with a dot as a file.
    [{ service: 'settings', section: 'accounts', id: 'ada.l' }, '/settings/accounts/ada.l/'],
  ])('builds a path: %o', (address, path) => {
    expect(buildPath(address)).toBe(path);
  });

  it('keeps the query when another item is opened, and the item when the query changes', () => {
    const query = new URLSearchParams('q=fog');
    expect(withQueryFields('/inbox', query, { id: '7' })).toBe('/inbox/messages/7?q=fog');
    expect(withQueryFields('/inbox/messages/7', query, { id: '' })).toBe('/inbox?q=fog');
    expect(withQueryFields('/inbox/messages/7', query, { q: '' })).toBe('/inbox/messages/7');
    expect(withQueryFields('/downloads/subscriptions', query, { id: '3', q: '' })).toBe('/downloads/subscriptions/3');
  });
});

describe('former paths', () => {
  it.each([
    ['/accounts', '/settings/accounts'],
    ['/accounts?account=ada.l&q=x', '/settings/accounts/ada.l/?q=x'],
    ['/accounts?account=*', '/settings/accounts/*'],
    ['/engines', '/settings/engines'],
    ['/given-up', '/settings/problems'],
    ['/dead-letters', '/settings/problems'],
    ['/backup', '/settings/backup'],
    ['/log?level=warn', '/settings/log?level=warn'],
    ['/uptime/monitors', '/uptime'],
    ['/uptime/monitors?show=down', '/uptime?show=down'],
    ['/notify', '/delivery/keys'],
    ['/notify?key=house', '/delivery/keys/house'],
    ['/notify/history?key=house&id=7', '/delivery/history/7?key=house'],
    ['/notify/given-up', '/delivery'],
    ['/delivery/problems', '/delivery'],
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
  ])('redirects to the current path: %s', (before, now) => {
    const { pathname, searchParams } = new URL(before, 'http://homeport');
    const present = findRedirect(pathname, searchParams) ?? '';
    expect(decodeURIComponent(present)).toBe(now);
    const redirectedUrl = new URL(present, 'http://homeport');
    expect(findRedirect(redirectedUrl.pathname, redirectedUrl.searchParams)).toBeUndefined();
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
  ])('leaves a current path unchanged: %s', (path) => {
    const { pathname, searchParams } = new URL(path, 'http://homeport');
    expect(findRedirect(pathname, searchParams)).toBeUndefined();
  });
});
