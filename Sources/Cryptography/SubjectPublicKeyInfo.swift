/// The frame around every public key (RFC 5280 section 4.1.2.7), taken apart: which algorithm, its parameters, the key's own bytes.
struct SubjectPublicKeyInfo {
    let algorithm: [UInt8]
    let parameters: DERReader
    let key: [UInt8]

    /// id-ecPublicKey, 1.2.840.10045.2.1
    static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// rsaEncryption, 1.2.840.113549.1.1.1
    static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]

    init(_ der: [UInt8], operation: String) throws(CryptographyError) {
        var outer = DERReader(der)
        guard let content = outer.read(DERReader.sequence), outer.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the key is not one SubjectPublicKeyInfo in DER")
        }
        var inner = DERReader(content)
        guard let identifier = inner.read(DERReader.sequence), let bits = inner.read(DERReader.bitString), inner.isAtEnd else {
            throw CryptographyError(.malformed, operation, "the key is not one SubjectPublicKeyInfo in DER")
        }
        var fields = DERReader(identifier)
        guard let algorithm = fields.read(DERReader.objectIdentifier), bits.first == 0 else {
            throw CryptographyError(.malformed, operation, "the key has no algorithm, or bits that are not whole bytes")
        }
        self.algorithm = Array(algorithm)
        parameters = fields
        key = Array(bits.dropFirst())
    }
}
