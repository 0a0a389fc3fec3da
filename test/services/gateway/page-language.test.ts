import * as texts from '#messages/gateway-texts';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { getLanguage } from '../../../messages/language.ts';
import { runInPageLanguage } from '../../../services/gateway/pages/language.ts';
import { renderProblemPage } from '../../../services/gateway/pages/problem-page.ts';
import { renderTrustPage } from '../../../services/gateway/trust/page.ts';
import { runInLanguage } from '../../../services/kit/language.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { openHome } from '../../support/gateway/phone.ts';

describe('gateway page', () => {
  it('names its language', async () => {
    const page = await runInLanguage({ language: 'de', locale: 'de' }, () =>
      renderProblemPage({ status: 404, detail: '<nothing>' }, { hasHome: true }),
    );
    expect(page).toContain('<html lang="de">');
    expect(page).toContain('<p>&lt;nothing&gt;</p>');
    expect(page).toContain('href="/"');
  });

  it('keeps links and commands inside of the sentences of the instructions', () => {
    const page = renderTrustPage({ fingerprint: 'AB:CD', title: 'Homeport <nas>', home: '/', userAgent: 'Linux' });
    expect(page).toContain('<a href="/trust/homeport.mobileconfig">profile</a>');
    expect(page).toContain('<code>sudo update-ca-certificates</code>');
    expect(page).toContain('<code>Homeport &lt;nas&gt;</code>');
    expect(page).toContain('VPN &amp; Device Management');
  });

  it('depends on the languages of the browser, in caches as well', async () => {
    await using home = await openHome({ services: [push, control, gateway], settings: { shared: ['push'] } });
    const headers = { Accept: 'text/html', 'Accept-Language': 'en-GB' };
    const page = await home.ask('https://nas.local/.homeport/sign-in', { headers });
    expect(page.headers.vary).toContain('Accept-Language');
    expect(page.body).toContain(texts.signInIntroduction());
  });
});

describe('runInPageLanguage', () => {
  const read = (headers: IncomingMessage['headers'], method = 'GET'): Promise<string> =>
    runInPageLanguage({ method, headers } as IncomingMessage, getLanguage);

  it('answers programs in English', async () => {
    expect(await read({ 'accept-language': 'de' })).toBe('en');
    expect(await read({ 'accept-language': 'de', accept: 'application/json' }, 'POST')).toBe('en');
  });
});
