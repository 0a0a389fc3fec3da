import * as problems from '#messages/notify-problems';
import { describe, expect, it } from 'vitest';
import { isNativeUrl, parseDestination } from '../../../../services/notify/destinations/catalogue.ts';
import { openProvider, parsed, sendTo } from './provider-server.ts';

const sig = 'a_b-c%3D';
const invoke = 'triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0';

describe('the webhook address that a service displays', () => {
  it.each([
    ['https://discord.com/api/webhooks/123/ab-C_d?footer=yes', 'discord://123/ab-C_d?footer=yes'],
    ['https://discordapp.com/api/webhooks/123/abc/', 'discord://123/abc'],
    ['https://hooks.slack.com/services/T1/B2/cDe?footer=no', 'slack://T1/B2/cDe?footer=no'],
    ['https://chat.googleapis.com/v1/spaces/AAA/messages?key=k-1&token=t%3D', 'gchat://AAA/k-1/t%3D'],
    [
      `https://prod-1.westus.logic.azure.com:443/workflows/abc/${invoke}&sig=${sig}`,
      `workflow://prod-1.westus.logic.azure.com:443/abc/${sig}?ver=1`,
    ],
    [
      `https://x.environment.api.powerplatform.com/powerautomate/automations/direct/cu/09/workflows/abc/${invoke}&sig=${sig}`,
      `workflow://x.environment.api.powerplatform.com/abc/${sig}?pa=yes&route=09&ver=1`,
    ],
    ['https://team.webhook.office.com/webhookb2/a@b/IncomingWebhook/c/d', 'msteams://team/a@b/c/d'],
    ['https://webexapis.com/v1/webhooks/incoming/abc', 'wxteams://abc'],
    ['https://open.feishu.cn/open-apis/bot/v2/hook/ab-c', 'feishu://ab-c'],
    ['https://open.larksuite.com/open-apis/bot/v2/hook/ab-c', 'lark://ab-c'],
    ['https://oapi.dingtalk.com/robot/send?access_token=abc', 'dingtalk://abc'],
    ['https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=ab-c', 'wecombot://ab-c'],
    ['https://ntfy.sh/My_Topic?priority=high', 'ntfy://My_Topic?priority=high'],
  ])('is converted to the destination: %s', (address, url) => {
    expect(isNativeUrl(address)).toBe(true);
    expect(parsed(address).url(false)).toBe(parsed(url).url(false));
  });

  it.each([
    'https://example.org/hook',
    'https://discord.com/api/webhooks/',
    'https://evil.example/discord.com/api/webhooks/1/a',
  ])('is not converted for other pages: %s', (address) => {
    expect(isNativeUrl(address)).toBe(false);
    expect(parseDestination(address)).toBe(problems.schemeUnsupported({ scheme: 'https' }));
  });

  it('supports the addresses of Power Automate since 2025', async () => {
    await using provider = await openProvider();
    const host = 'https://x.environment.api.powerplatform.com';
    const path = '/powerautomate/automations/direct/cu/09/workflows/abc/triggers/manual/paths/invoke';
    await sendTo(`${host}${path}?api-version=1&sig=s`, { body: 'x' }, provider.outlets);
    await sendTo('workflows://x.example/abc/s?powerautomate=yes', { body: 'x' }, provider.outlets);
    expect(provider.requests.map(({ url }) => url)).toEqual([
      `${host}${path}?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s`,
      'https://x.example/powerautomate/automations/direct/workflows/abc/triggers/manual/paths/' +
        'invoke?api-version=2022-03-01-preview&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s',
    ]);
  });
});

describe('parts of a URL that Apprise accepts in other locations', () => {
  it.each([
    ['json://host/p?user=u&pass=p%40ss&port=8080', 'json://u:p%40ss@host:8080/p'],
    ['json://old:gone@host?user=u&password=p', 'json://u:p@host'],
    ['mailtos://secret@example.com?user=me@example.com', 'mailtos://me%40example.com:secret@example.com'],
    ['mailtos://_?user=me@example.com&pass=p', 'mailtos://me%40example.com:p@example.com'],
    ['tgram://bot123456789:abc_d/5,@chan/6', 'tgram://123456789:abc_d/5/@chan/6'],
    ['ntfy://host/one,two/three?to=four', 'ntfy://host/one/two/three/four'],
    ['ntfy://one,two', 'ntfy://one/two?mode=cloud'],
    ['zulip://bot@org/key/My%20Stream,Other', 'zulip://bot@org/key/My%20Stream/Other'],
    ['pbul://token/%23a,b@c?to=d', 'pbul://token/%23a/b@c/d'],
  ])('are moved to their location: %s', (url, standardUrl) => {
    expect(parsed(url).url(false)).toBe(parsed(standardUrl).url(false));
    expect(parsed(url).parts?.length).toBe(parsed(standardUrl).parts?.length);
  });

  it('are masked in each location', () => {
    expect(parsed('json://host?user=u&pass=s3cretword').url(true)).not.toContain('s3cretword');
    expect(parsed('mailtos://s3cretword@example.com?user=me@example.com').url(true)).not.toContain('s3cretword');
  });

  it('adds the plus to a Signal number', async () => {
    await using provider = await openProvider();
    await sendTo('signal://host/15551234567/15557654321/group.abc', { body: 'x' }, provider.outlets);
    expect(provider.requests.map(({ body }) => JSON.parse(body.toString()) as unknown)).toMatchObject([
      { number: '+15551234567', recipients: ['+15557654321'] },
      { recipients: ['group.abc'] },
    ]);
  });
});
