import * as problems from '#messages/notify-problems';
import * as m from '#messages/notify-forms';
import { z } from 'zod';
import { readJson } from '../exchange.ts';
import { requiredField, secretField, serverFields } from '../fields.ts';
import { postForm, withQuery } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart } from '../url.ts';

const Reply = z.object({ success: z.boolean(), error: z.object({ code: z.number() }).optional().catch(undefined) });

/** Error code of the rate limit. */
const rateLimitCode = 411;

/** `synology://host[:port]/[path/]token`: an incoming webhook of Synology Chat. */
export const synologyKind = defineScheme({
  service: 'Synology Chat',
  label: 'synology',
  protocols: ['synology'],
  secureProtocols: ['synologys'],
  templates: ['{schema}://{host}/{token}', '{schema}://{host}:{port}/{token}'],
  titleLimit: 0,
  bodyLimit: 32_768,
  form: {
    about: m.synologyAbout,
    fields: [...serverFields, requiredField(secretField('token', m.token, 'last', m.synologyTokenHelp))],
  },
  open({ url, origin }) {
    const token = url.path.at(-1);
    if (token === undefined) return problems.addressIncomplete({ example: 'synology://host/token' });
    const path = url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('');
    const query = { api: 'SYNO.Chat.External', method: 'incoming', version: 2, token };
    const address = withQuery(`${origin}${path}/webapi/entry.cgi`, query);
    return async ({ body }, { request, fail }) => {
      const reply = readJson(await request(postForm(address, { payload: JSON.stringify({ text: body }) })), Reply);
      const code = reply?.error?.code;
      return reply?.success === false ? fail(`error ${code ?? 'without a number'}`, code === rateLimitCode) : undefined;
    };
  },
});
