import { fileParts, numbered } from '../files.ts';
import { formBody, postParts } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { renameFields, web, webForm, webTarget } from './web.ts';

/** `form://[user:password@]host[:port]/path`: posts the notice as a web form; files go as parts of it. */
export const formKind = defineScheme({
  ...web,
  service: 'Form',
  label: 'form',
  protocols: ['form'],
  secureProtocols: ['forms'],
  args: ['method', 'attach-as'],
  form: webForm('Posts the notice as a web form to any web address.'),
  open(address) {
    const target = webTarget(address);
    if (typeof target === 'string') return target;
    const { method, headers } = target;
    const name = address.argument('attach-as');
    const field = (at: number): string => (name === undefined ? numbered(at) : name.replaceAll('*', String(at + 1)));
    return {
      noun: `Form ${method}`,
      async send({ title, body, type, attachments = [] }, { ask, boundary }) {
        const pairs = renameFields<string>({ version: '1.0', title, message: body, type }, address.url.fields);
        if (method === 'GET' || method === 'HEAD') {
          const mark = target.address.includes('?') ? '&' : '?';
          await ask({ method, url: `${target.address}${mark}${formBody(pairs)}`, headers });
        } else if (attachments.length === 0) {
          const type = { 'content-type': 'application/x-www-form-urlencoded' };
          await ask({ method, url: target.address, headers: { ...type, ...headers }, body: formBody(pairs) });
        } else {
          const files = await fileParts(attachments, field);
          await ask({ ...postParts(target.address, pairs, files, boundary(), headers), method });
        }
      },
    };
  },
});
