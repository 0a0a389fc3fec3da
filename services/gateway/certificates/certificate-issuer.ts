import { isIP } from 'node:net';
import 'reflect-metadata';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_nameConstraints,
  NameConstraints,
} from '@peculiar/asn1-x509';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 24 * 60 * 60 * 1000;
const authorityLifetimeMs = 3650 * dayMs;
/** Systems reject server certificates that are valid for more than 398 days. */
const leafLifetimeMs = 397 * dayMs;
/** Tolerance for inaccurate clocks of phones and TVs. */
const clockSkewMs = dayMs;

/** Name constraints of the authority: the local domain and private addresses, in addition to the given names. */
const permittedNames = ['local', 'localhost'];
const permittedNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '127.0.0.0/8',
  'fc00::/7',
  'fe80::/10',
  '::1/128',
];

/** Certificate and key in PEM; times are milliseconds since the epoch. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly madeAt: number;
  readonly expiresAt: number;
}

/** Creates an authority that is constrained to the given names, `.local` and private addresses. */
export async function issueAuthority(title: string, names: readonly string[], now: number): Promise<IssuedCertificate> {
  const keys = await generateKeys();
  const allowed = [
    ...[...permittedNames, ...names].map((name) => new GeneralName({ dNSName: name })),
    ...permittedNetworks.map((network) => new GeneralName({ iPAddress: network })),
  ];
  const constraints = new NameConstraints({
    permittedSubtrees: new GeneralSubtrees(allowed.map((base) => new GeneralSubtree({ base }))),
  });
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [title] }, { O: ['Homeport'] }],
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - clockSkewMs),
    notAfter: new Date(now + authorityLifetimeMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.Extension(id_ce_nameConstraints, true, AsnConvert.serialize(constraints)),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return toIssuedCertificate(certificate, keys, now);
}

/** Issues a server certificate for names and addresses; the first is the common name. */
export async function issueLeaf(
  authority: Pick<IssuedCertificate, 'certificate' | 'key'>,
  names: readonly string[],
  now: number,
): Promise<IssuedCertificate> {
  const keys = await generateKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await crypto.subtle.importKey(
    'pkcs8',
    x509.PemConverter.decodeFirst(authority.key),
    algorithm,
    false,
    ['sign'],
  );
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [names[0] ?? 'Homeport'] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: algorithm,
    notBefore: new Date(now - clockSkewMs),
    notAfter: new Date(Math.min(now - clockSkewMs + leafLifetimeMs, issuer.notAfter.getTime())),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return toIssuedCertificate(certificate, keys, now);
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function toIssuedCertificate(
  certificate: x509.X509Certificate,
  keys: CryptoKeyPair,
  now: number,
): Promise<IssuedCertificate> {
  return {
    certificate: certificate.toString('pem'),
    key: x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
    madeAt: now,
    expiresAt: certificate.notAfter.getTime(),
  };
}
