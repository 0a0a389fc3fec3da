import { encodeFiles } from '../files.ts';
import { defineScheme } from '../scheme.ts';
import { renameFields, web, webForm, webTarget } from './web.ts';

/** `json://[user:password@]host[:port]/path`: posts the notice as JSON to any web address. */
export const jsonKind = defineScheme({
  ...web,
  service: 'JSON',
  label: 'json',
  protocols: ['json'],
  secureProtocols: ['jsons'],
  form: webForm('Posts the notice as JSON to any web address.'),
  open(address) {
    const target = webTarget(address);
    if (typeof target === 'string') return target;
    const { method, headers } = target;
    return {
      noun: `JSON ${method}`,
      async send({ title, body, type, attachments }, { ask }) {
        const payload = {
          ...{ version: '1.0', title, message: body },
          attachments: await encodeFiles(attachments),
          type,
        };
        // Requests of these methods carry no body; the fields would be lost either way.
        const bodiless = method === 'GET' || method === 'HEAD';
        await ask({
          method,
          url: target.address,
          headers: { 'content-type': 'application/json', ...headers },
          ...(bodiless ? {} : { body: JSON.stringify(renameFields<unknown>(payload, address.url.fields)) }),
        });
      },
    };
  },
});
