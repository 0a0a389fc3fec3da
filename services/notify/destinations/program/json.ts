import * as m from '#messages/notify-forms';
import { encodeFiles } from '../files.ts';
import { defineScheme } from '../scheme.ts';
import { renameFields, webDefaults, buildWebForm, parseWebTarget } from './web.ts';

/** `json://[user:password@]host[:port]/path`: posts the notification as JSON to any web address. */
export const jsonKind = defineScheme({
  ...webDefaults,
  service: 'JSON',
  label: 'json',
  protocols: ['json'],
  secureProtocols: ['jsons'],
  form: buildWebForm(m.jsonAbout),
  open(address) {
    const target = parseWebTarget(address);
    if (typeof target === 'string') return target;
    const { method, headers } = target;
    return {
      noun: `JSON ${method}`,
      async send({ title, body, type, attachments }, { request }) {
        const payload = {
          version: '1.0',
          title,
          message: body,
          attachments: await encodeFiles(attachments),
          type,
        };
        // Requests with these methods have no body, so the fields are not sent.
        const hasNoBody = method === 'GET' || method === 'HEAD';
        await request({
          method,
          url: target.address,
          headers: { 'content-type': 'application/json', ...headers },
          ...(hasNoBody ? {} : { body: JSON.stringify(renameFields<unknown>(payload, address.url.fields)) }),
        });
      },
    };
  },
});
