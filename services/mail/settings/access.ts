import * as m from '#messages/mail-settings';
import { isIP } from 'node:net';
import { z } from 'zod';

/** Returns true for an address or a network such as 192.168.1.0/24. */
function isNetwork(text: string): boolean {
  const [address = '', prefixLength, extra] = text.split('/');
  const family = isIP(address);
  if (family === 0 || extra !== undefined) return false;
  return (
    prefixLength === undefined || (/^\d{1,3}$/.test(prefixLength) && Number(prefixLength) <= (family === 4 ? 32 : 128))
  );
}

const Login = z.object({
  name: z.string().trim().min(1).max(128).default('mail').meta({ label: m.name, help: m.nameHelp }),
  password: z.string().min(1).max(1024).default('').meta({ label: m.password, help: m.passwordHelp, secret: true }),
});

/** Settings for clients, sign-in and encryption. */
export const accessFields = {
  clients: z
    .array(z.string().trim().refine(isNetwork, { error: m.clientsInvalid }))
    .max(200)
    .default([])
    .meta({
      live: true,
      label: m.clients,
      help: m.clientsHelp,
    }),
  signIn: z
    .enum(['off', 'optional', 'required'])
    .default('off')
    .meta({
      live: true,
      label: m.signIn,
      help: m.signInHelp,
      choices: { off: m.signInOff, optional: m.signInOptional, required: m.signInRequired },
    }),
  logins: z
    .array(Login)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { signIn: ['optional', 'required'] },
      label: m.logins,
      help: m.loginsHelp,
    }),
  tls: z
    .enum(['off', 'starttls', 'required', 'implicit'])
    .default('off')
    .meta({
      label: m.tls,
      help: m.tlsHelp,
      choices: {
        off: m.tlsOff,
        starttls: m.tlsStarttls,
        required: m.tlsRequired,
        implicit: m.tlsImplicit,
      },
    }),
  certificateFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      label: m.certificateFile,
      help: m.certificateFileHelp,
    }),
  keyFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      label: m.keyFile,
      help: m.keyFileHelp,
    }),
};
