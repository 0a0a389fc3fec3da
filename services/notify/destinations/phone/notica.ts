import * as m from '#messages/notify-forms';
import { requiredField, secretField, textField } from '../fields.ts';
import { basicAuthorization, withQuery } from '../http.ts';
import { defineScheme } from '../scheme.ts';
import { encodePart, hostAndPort } from '../url.ts';

/** `notica://token` for notica.us, `notica://host[:port]/token` for a self-hosted server. */
export const noticaKind = defineScheme({
  service: 'Notica',
  label: 'notica',
  protocols: ['notica'],
  secureProtocols: ['noticas'],
  templates: ['{schema}://{token}', '{schema}://{host}/{token}', '{schema}://{host}:{port}/{token}'],
  titleLimit: 0,
  bodyLimit: 32_768,
  form: {
    about: m.noticaAbout,
    secretLocations: (url) => (url.path.length === 0 ? ['host'] : ['last', 'password']),
    fields: [
      requiredField(textField('place', m.tokenOrHost, 'host', m.noticaTokenHelp)),
      secretField('token', m.token, 'last', m.noticaOwnTokenHelp),
      textField('port', m.port, 'port'),
    ],
  },
  open({ url, secure }) {
    const token = url.path.at(-1);
    const server = `${secure ? 'https' : 'http'}://${hostAndPort(url)}${url.path
      .slice(0, -1)
      .map((each) => `/${encodePart(each)}`)
      .join('')}/`;
    const address = token === undefined ? `https://notica.us/?${encodePart(url.host)}` : withQuery(server, { token });
    const authorization = basicAuthorization(url);
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...(authorization === undefined ? {} : { authorization }),
    };
    return ({ body }, { request }) => request({ method: 'POST', url: address, headers, body: `d:${body}` });
  },
});
