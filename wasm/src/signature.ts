import { InferPrepError } from './errors.js';
import { hex, sha256 } from './sha256.js';

/**
 * verifyEd25519 verifies a signature with WebCrypto. It returns undefined if
 * the engine cannot: it lacks Ed25519, or the page's context is insecure.
 */
export async function verifyEd25519(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean | undefined> {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (!subtle) return undefined;
  const copy = (b: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(b);
  try {
    const k = await subtle.importKey('raw', copy(key), { name: 'Ed25519' }, false, ['verify']);
    return await subtle.verify({ name: 'Ed25519' }, k, copy(signature), copy(message));
  } catch (e) {
    // DataError is an invalid key. Every other error is a missing algorithm,
    // for which engines have several names.
    return (e as Error | undefined)?.name === 'DataError' ? false : undefined;
  }
}

/** The DER form of an Ed25519 key up to the key itself. */
const der = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/** keyID returns the name of a public key: the SHA-256 of its PEM file in hexadecimal, as sha256sum prints it. */
export async function keyID(key: Uint8Array): Promise<string> {
  const text = btoa(String.fromCharCode(...der, ...key));
  return hex(await sha256(new TextEncoder().encode(`-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----\n`)));
}

/** publicKey returns the 32 bytes of a key, or those in a PEM file. */
export function publicKey(key: Uint8Array | ArrayBuffer | string): Uint8Array {
  if (typeof key !== 'string') {
    const b = key instanceof Uint8Array ? key : new Uint8Array(key);
    if (b.length === 32) return b;
    throw new InferPrepError('param', `infer-prep: verifySignature: a public key of ${b.length} bytes: want 32, or a PEM file as a string`);
  }
  const bad = (): never => {
    throw new InferPrepError('param', 'infer-prep: verifySignature: want an Ed25519 public key in PEM, as "openssl pkey -pubout" writes it');
  };
  const m = /^\s*-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----\s*$/.exec(key) ?? bad();
  let b: Uint8Array;
  try {
    b = Uint8Array.from(atob(m[1]!.replace(/\s/g, '')), (c) => c.charCodeAt(0));
  } catch {
    return bad();
  }
  if (b.length !== der.length + 32 || der.some((v, i) => b[i] !== v)) bad();
  return b.subarray(der.length);
}
