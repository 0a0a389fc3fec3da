import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { withApp } from '../../../main/host/services/app-listener.ts';
import { open } from './raw.ts';

const answer =
  (text: string): RequestListener =>
  (_request, response) =>
    void response.end(text);
const app = { handleApi: answer('api'), handlePage: answer('page') };
const ownPaths = ['/api', '/api/events', '/status/:name'];

describe('listener with the app', () => {
  it.each([
    ['/api', 'service'],
    ['/api/events', 'service'],
    ['/%61pi/%65vents?since=1', 'service'],
    ['/status/a%2Fb', 'service'],
    ['/status/', 'page'],
    ['/status/a/b', 'page'],
    ['/api/', 'api'],
    ['/api/events/', 'api'],
    ['/%61pi/services', 'api'],
    ['/api/services/a%2Fb', 'api'],
    ['/api/%zz', 'api'],
    ['/', 'page'],
    ['/apis', 'page'],
    ['/api%2Fservices', 'page'],
  ])('passes %s to the handler %s', async (path, expected) => {
    const handler = withApp({ app: { ownPaths } }, { http: answer('service') }, app);
    await using opened = await open({ handler });
    for (const method of ['GET', 'POST']) {
      expect(await (await fetch(opened.url + path, { method })).text(), method).toBe(expected);
    }
  });

  it('keeps the handlers of WebSocket upgrades and of listeners without the app', () => {
    const handler = { http: answer('service'), upgrade: () => undefined };
    expect(withApp({ app: { ownPaths } }, handler, app).upgrade).toBe(handler.upgrade);
    expect(withApp({}, handler, app)).toBe(handler);
  });
});
