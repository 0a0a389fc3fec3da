import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { FetchReply } from '../../../contracts/outgoing.ts';
import { readJson, type Exchange } from '../exchange.ts';
import { choiceField, requiredField, secretField, textField } from '../fields.ts';
import type { Text } from '../../../contracts/text.ts';
import type { FormFieldDefinition } from '../form-definition.ts';
import { postForm, postJson, withQuery } from '../http.ts';
import { appTitle } from '../colors.ts';
import { defineScheme, type SchemeDefinition } from '../scheme.ts';

const Reply = z.object({
  errcode: z.number().optional(),
  errmsg: z.string().optional(),
  code: z.number().optional(),
  msg: z.string().optional(),
  message: z.string().optional(),
});

/**
 * Codes of a rate limit or an overload: Feishu and Lark 9499, 11232 and 99991400, DingTalk 130101, WeCom 45009 and
 * 45033.
 */
const temporaryCodes: ReadonlySet<number> = new Set([-1, 9499, 11_232, 45_009, 45_033, 130_101, 99_991_400]);

/** Checks the code in the body; these services always answer with status 200. */
function checkReply(reply: FetchReply, { fail }: Exchange, successCode = 0): void {
  const { errcode, errmsg, code, msg, message } = readJson(reply, Reply) ?? {};
  const replyCode = errcode ?? code;
  if (replyCode !== undefined && replyCode !== successCode)
    fail(errmsg ?? msg ?? message ?? `code ${replyCode}`, temporaryCodes.has(replyCode));
}

function tokenField(help: Text): FormFieldDefinition {
  return requiredField(secretField('token', m.token, 'host', help));
}

const markdownField = choiceField('format', m.format, 'query:format', [
  ['', m.plainText],
  ['markdown', 'Markdown'],
]);
/** Properties of webhooks whose limit counts bytes. */
const webhookDefaults = {
  protocols: [],
  titleLimit: 0,
  unit: 'bytes',
  overflow: 'split',
} as const satisfies Partial<SchemeDefinition>;

/** `feishu://token`: a bot in a group of Feishu. */
export const feishuKind = defineScheme({
  ...webhookDefaults,
  service: 'Feishu',
  label: 'feishu',
  secureProtocols: ['feishu'],
  templates: ['{schema}://{token}'],
  bodyLimit: 19_985,
  form: { about: m.feishuAbout, fields: [tokenField(m.webhookTokenHelp)] },
  open({ url }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'feishu://token' });
    const address = `https://open.feishu.cn/open-apis/bot/v2/hook/${encodeURIComponent(url.host)}/`;
    return async ({ body }, exchange) =>
      checkReply(await exchange.request(postJson(address, { msg_type: 'text', content: { text: body } })), exchange);
  },
});

/** `lark://token`: Feishu outside China. */
export const larkKind = defineScheme({
  ...webhookDefaults,
  service: 'Lark (Feishu)',
  label: 'lark',
  secureProtocols: ['lark'],
  templates: ['{schema}://{token}'],
  bodyLimit: 19_985,
  heading: (title) => `${title}\n`,
  form: { about: m.larkAbout, fields: [tokenField(m.webhookTokenHelp)] },
  open({ url }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'lark://token' });
    const address = `https://open.larksuite.com/open-apis/bot/v2/hook/${encodeURIComponent(url.host)}`;
    return async ({ body }, exchange) =>
      checkReply(await exchange.request(postJson(address, { msg_type: 'text', content: { text: body } })), exchange);
  },
});

/**
 * `dingtalk://[secret@]token[/phone]`: a robot in a DingTalk group, which mentions the members with these phone
 * numbers.
 */
export const dingTalkKind = defineScheme({
  ...webhookDefaults,
  service: 'DingTalk',
  label: 'dingtalk',
  secureProtocols: ['dingtalk'],
  templates: ['{schema}://{token}/', '{schema}://{token}/{targets}/', '{schema}://{secret}@{token}/{targets}'],
  bodyLimit: 20_000,
  form: {
    about: m.dingTalkAbout,
    fields: [
      tokenField(m.dingTalkTokenHelp),
      secretField('secret', m.secret, 'user', m.dingTalkSecretHelp),
      textField('phones', m.calls, 'targets', m.dingTalkMentionsHelp),
      markdownField,
    ],
  },
  open({ url, targets, options }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'dingtalk://token' });
    return async ({ body }, exchange) => {
      const timestamp = url.user === undefined ? undefined : exchange.outlets.clock.now();
      const signature =
        url.user === undefined
          ? undefined
          : createHmac('sha256', url.user)
              .update(`${String(timestamp)}\n${url.user}`)
              .digest('base64');
      const query = { access_token: url.host, timestamp, sign: signature };
      const address = withQuery('https://oapi.dingtalk.com/robot/send', query);
      const mentions = { atMobiles: targets, isAtAll: false };
      const title = body.split(/\r?\n/, 1)[0]?.replace(/^#+ /, '') || appTitle;
      const markdownMessage = { msgtype: 'markdown', at: mentions, markdown: { title, text: body } };
      const textMessage = { msgtype: 'text', at: mentions, text: { content: body } };
      checkReply(
        await exchange.request(postJson(address, options.format === 'markdown' ? markdownMessage : textMessage)),
        exchange,
      );
    };
  },
});

/** `wecombot://key`: a bot in a group of WeCom. */
export const weComKind = defineScheme({
  ...webhookDefaults,
  service: 'WeCom Bot',
  label: 'wecombot',
  secureProtocols: ['wecombot'],
  templates: ['{schema}://{botkey}'],
  bodyLimit: 2048,
  form: {
    about: m.weComAbout,
    fields: [tokenField(m.weComTokenHelp), markdownField],
  },
  open({ url, options }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'wecombot://key' });
    const address = withQuery('https://qyapi.weixin.qq.com/cgi-bin/webhook/send', { key: url.host });
    return async ({ body }, exchange) => {
      const type = options.format === 'markdown' ? 'markdown' : 'text';
      checkReply(await exchange.request(postJson(address, { msgtype: type, [type]: { content: body } })), exchange);
    };
  },
});

/** `schan://key`: WeChat, through ServerChan. */
export const serverChanKind = defineScheme({
  service: 'ServerChan',
  label: 'schan',
  protocols: [],
  secureProtocols: ['schan'],
  templates: ['{schema}://{token}'],
  titleLimit: 250,
  bodyLimit: 32_768,
  form: { about: m.serverChanAbout, fields: [tokenField(m.serverChanTokenHelp)] },
  open({ url }) {
    if (!/^\w+$/.test(url.host)) return problems.addressIncomplete({ example: 'schan://key' });
    const address = `https://sctapi.ftqq.com/${url.host}.send`;
    return async ({ title, body }, exchange) =>
      checkReply(await exchange.request(postForm(address, { title, desp: body })), exchange);
  },
});

/** `pushplus://token`: WeChat, through Pushplus. */
export const pushplusKind = defineScheme({
  service: 'Pushplus',
  label: 'pushplus',
  protocols: [],
  secureProtocols: ['pushplus'],
  templates: ['{schema}://{token}'],
  format: 'html',
  titleLimit: 100,
  bodyLimit: 20_000,
  form: { about: m.pushplusAbout, fields: [tokenField(m.pushplusTokenHelp)] },
  open({ url, options }) {
    if (url.host === '') return problems.addressIncomplete({ example: 'pushplus://token' });
    const template = ({ text: 'txt', markdown: 'markdown', html: 'html' } as const)[options.format];
    return async ({ title, body }, exchange) => {
      const messageTitle = title === '' ? body.slice(0, 100) : title;
      const message = { token: url.host, title: messageTitle, content: body, template, channel: 'wechat' };
      // Its success code is an HTTP status.
      checkReply(await exchange.request(postJson('https://www.pushplus.plus/send', message)), exchange, 200);
    };
  },
});
