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
  name: z
    .string()
    .trim()
    .min(1)
    .max(128)
    .default('mail')
    .meta({ title: 'Name', description: 'User name that the mail client sends.' }),
  password: z
    .string()
    .min(1)
    .max(1024)
    .default('')
    .meta({ title: 'Password', description: 'Password for this mail gateway only.', secret: true }),
});

/** Settings for clients, sign-in and encryption. */
export const accessFields = {
  clients: z
    .array(z.string().trim().refine(isNetwork, 'Use an address or a network such as 192.168.1.0/24.'))
    .max(200)
    .default([])
    .meta({
      live: true,
      title: 'Allowed networks',
      description:
        'Addresses or networks that can send mail, such as 192.168.1.0/24. Leave empty to allow this ' +
        'computer and private networks, or all networks if sign-in is required.',
    }),
  signIn: z
    .enum(['off', 'optional', 'required'])
    .default('off')
    .meta({
      live: true,
      title: 'Sign-in',
      description: 'Requires a login below or an account with write access to the recipient, such as mail alerts*.',
      choices: { off: 'Disabled', optional: 'Optional', required: 'Required' },
    }),
  logins: z
    .array(Login)
    .max(200)
    .default([])
    .meta({
      live: true,
      needs: { signIn: ['optional', 'required'] },
      title: 'Logins',
      description: 'Logins for devices without an account. They can send to every recipient.',
    }),
  tls: z
    .enum(['off', 'starttls', 'required', 'implicit'])
    .default('off')
    .meta({
      title: 'Encryption',
      description: 'Encryption of connections from devices.',
      choices: {
        off: 'None',
        starttls: 'STARTTLS, required for sign-in',
        required: 'STARTTLS, required',
        implicit: 'Implicit TLS, as on port 465',
      },
    }),
  certificateFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      title: 'Certificate',
      description: 'PEM file with the certificate and its chain.',
    }),
  keyFile: z
    .string()
    .default('')
    .meta({
      needs: { tls: ['starttls', 'required', 'implicit'] },
      title: 'Certificate key',
      description: 'PEM file with the private key of the certificate.',
    }),
};
