import Cryptography
package import Trading

/// Where a credential stands (design section 4.4).
package enum CredentialStatus: String, Sendable, CaseIterable {
    case pendingPairing = "PENDING_PAIRING"
    case active = "ACTIVE"
    case invalidated = "INVALIDATED"
}

/// `POST /v1/credentials`: a device asks to have its key enrolled.
package struct CreateCredentialRequest: Hashable, Sendable {
    package let account: AccountID
    /// What the trader calls the device.
    package let keyAlias: String
    /// The public key, DER SubjectPublicKeyInfo, still to be checked.
    package let publicKey: [UInt8]

    package static let fieldNames = ["account_id", "key_alias", "public_key_spki"]
    /// Room for a device's name; it is shown in lists.
    package static let aliasLimitBytes = 128
    /// A P-256 SubjectPublicKeyInfo has 91 bytes, with explicit parameters some 330.
    package static let publicKeyLimitBytes = 512

    package init(account: AccountID, keyAlias: String, publicKey: [UInt8]) {
        self.account = account
        self.keyAlias = keyAlias
        self.publicKey = publicKey
    }

    /// - Throws: `malformed_request` or `invalid_field`; unknown fields first, then in the order of ``fieldNames``.
    package static func read(_ body: [UInt8]) throws(Problem) -> CreateCredentialRequest {
        let fields = try RequestFields(body, expecting: fieldNames)
        let account = try fields.parsed("account_id", "1 to 64 characters of A-Z, a-z, 0-9, '_' and '-'", AccountID.init)
        let aliasExpected = "a name of 1 to \(aliasLimitBytes) bytes without control characters"
        let alias = try fields.text("key_alias", aliasExpected)
        guard (1...aliasLimitBytes).contains(alias.utf8.count), alias.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw .invalid("key_alias", "'key_alias' is not valid. Send \(aliasExpected).") }
        let publicKey = try fields.base64("public_key_spki", limitBytes: publicKeyLimitBytes)
        return CreateCredentialRequest(account: account, keyAlias: alias, publicKey: publicKey)
    }

    /// The body that a client sends: reading it gives this request back.
    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("account_id", account.text)
        json.member("key_alias", keyAlias)
        json.member("public_key_spki", Base64.standard.encode(publicKey))
        json.endObject()
        return json.bytes
    }
}

/// `POST /v1/credentials/<id>/pair`: the new key and one that is active sign the challenge (``SignedForm/credentialPair(account:credentialID:challenge:)``).
package struct PairCredentialRequest: Hashable, Sendable {
    /// By the key that is being enrolled.
    package let signature: [UInt8]
    package let authorizingCredentialID: String
    package let authorizingSignature: [UInt8]

    package static let fieldNames = ["signature", "authorizing_credential", "authorizing_signature"]

    package init(signature: [UInt8], authorizingCredentialID: String, authorizingSignature: [UInt8]) {
        self.signature = signature
        self.authorizingCredentialID = authorizingCredentialID
        self.authorizingSignature = authorizingSignature
    }

    /// - Throws: `malformed_request` or `invalid_field`; unknown fields first, then in the order of ``fieldNames``.
    package static func read(_ body: [UInt8]) throws(Problem) -> PairCredentialRequest {
        let fields = try RequestFields(body, expecting: fieldNames)
        let signature = try fields.base64("signature", limitBytes: SignedHeaders.signatureLimitBytes)
        let authorizing = try fields.parsed("authorizing_credential", "the id of an active credential") { $0.isCredentialID ? $0 : nil }
        let authorizingSignature = try fields.base64("authorizing_signature", limitBytes: SignedHeaders.signatureLimitBytes)
        return PairCredentialRequest(signature: signature, authorizingCredentialID: authorizing, authorizingSignature: authorizingSignature)
    }

    /// The body that a client sends: reading it gives this request back.
    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("signature", Base64.standard.encode(signature))
        json.member("authorizing_credential", authorizingCredentialID)
        json.member("authorizing_signature", Base64.standard.encode(authorizingSignature))
        json.endObject()
        return json.bytes
    }
}

/// A credential as the endpoints show it. Never the key itself.
package struct CredentialView: Hashable, Sendable {
    package let credentialID: String
    package let accountID: AccountID
    package let keyAlias: String
    package let status: CredentialStatus
    /// Milliseconds since the epoch; nil = has not happened.
    package let createdAt: Int64
    package let pairedAt: Int64?
    package let invalidatedAt: Int64?

    package init(
        credentialID: String,
        accountID: AccountID,
        keyAlias: String,
        status: CredentialStatus,
        createdAt: Int64,
        pairedAt: Int64?,
        invalidatedAt: Int64?
    ) {
        self.credentialID = credentialID
        self.accountID = accountID
        self.keyAlias = keyAlias
        self.status = status
        self.createdAt = createdAt
        self.pairedAt = pairedAt
        self.invalidatedAt = invalidatedAt
    }

    package var body: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        writeMembers(to: &json)
        json.endObject()
        return json.bytes
    }

    /// The body of the 201: the credential, and the challenge that both keys sign.
    ///
    /// - Parameter challenge: 32 random bytes; written base64url, as it is signed.
    package func createdBody(challenge: [UInt8], challengeExpiresAt: Int64) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 384)
        json.beginObject()
        writeMembers(to: &json)
        json.member("challenge", Base64.url.encode(challenge))
        json.member("challenge_expires_at", challengeExpiresAt)
        json.endObject()
        return json.bytes
    }

    /// `{"credentials":[…]}`
    package static func listBody(_ credentials: [CredentialView]) -> [UInt8] {
        var json = JSONWriter(reservingBytes: 32 + credentials.count * 256)
        json.beginObject()
        json.name("credentials")
        json.beginArray()
        for credential in credentials {
            json.beginObject()
            credential.writeMembers(to: &json)
            json.endObject()
        }
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func writeMembers(to json: inout JSONWriter) {
        json.member("credential_id", credentialID)
        json.member("account_id", accountID.text)
        json.member("key_alias", keyAlias)
        json.member("status", status.rawValue)
        json.member("created_at", createdAt)
        json.member("paired_at", pairedAt)
        json.member("invalidated_at", invalidatedAt)
    }
}
