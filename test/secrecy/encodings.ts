/** The encodings in which a secret can appear in bytes: plain, base64, hex and others. */

/** Shorter parts of a secret reveal too little, and appear in other texts by chance. */
const LEAST_BYTES = 12;

/** The secrets found in the bytes, by name, with their encoding. */
export function findSecrets(bytes: Buffer, secrets: ReadonlyMap<string, string>): string[] {
  const folded = Buffer.from(bytes.toString('latin1').toLowerCase(), 'latin1');
  return [...secrets].flatMap(([name, secret]) => {
    const found = formsOf(secret).find(([, form, isFolded]) =>
      form.length >= LEAST_BYTES && (isFolded ? folded : bytes).includes(form));
    return found ? [`${name}, ${found[0]}`] : [];
  });
}

type Form = readonly [name: string, bytes: Buffer, isFolded: boolean];

function formsOf(secret: string): Form[] {
  const forms: Form[] = [];
  const plain = secret.replaceAll(/[ -]/g, '');
  for (const [name, bytes] of [
    ['plain', Buffer.from(secret)], ['without separators', Buffer.from(plain)],
    ...decodings(secret),
  ] as const) {
    forms.push([name, bytes, false]);
    forms.push([`${name}, in hex`, Buffer.from(bytes.toString('hex')), true]);
    for (const [shift, text] of shiftedBase64(bytes).entries()) {
      forms.push([`${name}, in base64 from ${shift}`, Buffer.from(text), false]);
      const url = text.replaceAll('+', '-').replaceAll('/', '_');
      forms.push([`${name}, in base64url from ${shift}`, Buffer.from(url), false]);
    }
  }
  forms.push(['plain, in other case', Buffer.from(secret.toLowerCase()), true]);
  forms.push(['percent-encoded', Buffer.from(encodeURIComponent(secret)), false]);
  forms.push(['of a form', Buffer.from(secret.replaceAll(' ', '+')), false]);
  forms.push(['of JSON', Buffer.from(JSON.stringify(secret).slice(1, -1)), false]);
  forms.push(['in UTF-16', Buffer.from(secret, 'utf16le'), false]);
  return forms;
}

/** The bytes that a secret encodes. */
function* decodings(secret: string): Generator<readonly [string, Buffer]> {
  const plain = secret.replaceAll(/[ -]/g, '');
  if (/^[\w-]{43}$/.test(secret)) yield ['its bytes', Buffer.from(secret, 'base64url')];
  if (secret.startsWith('whsec_')) yield ['its bytes', Buffer.from(secret.slice(6), 'base64')];
  if (/^[0-9a-f]{64}$/.test(secret)) yield ['its bytes', Buffer.from(secret, 'hex')];
  if (/^[A-Z2-7]{32}$/.test(plain)) yield ['its bytes', decodeBits(plain)];
}

/** The base64 text that these bytes share at any offset. */
function shiftedBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, '');
    // The first and the last characters depend on the adjacent bytes.
    return text.slice(shift === 0 ? 0 : shift + 1, -1);
  });
}

/** Decodes base32, independently of the code under test. */
function decodeBits(text: string): Buffer {
  let bits = 0n;
  for (const character of text) {
    bits = bits * 32n + BigInt('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(character));
  }
  return Buffer.from(bits.toString(16).padStart(40, '0'), 'hex');
}
